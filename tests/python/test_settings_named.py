"""One declaration a setting: how many of the product's files name each, by the syntax tree."""

import ast
from collections import Counter
from dataclasses import fields

import pytest
from repository import ROOT

from eyelevel.networks.network import Network
from eyelevel.plan.browser import Browser
from eyelevel.plan.stacks import Stack

PACKAGE = ROOT / "python" / "eyelevel"
FILES_MAX = {Stack: 5, Network: 4, Browser: 4}

HOMONYMS = {
    "name": "everything has one",
    "browser": "the record's observations, the package and the settings as a whole",
}
"""Words that mean something else as well, nearly everywhere."""

CEILINGS = {
    "stack_preset": 7,
    "http_version": 10,
    "congestion_control": 19,
    "initial_window_packets": 7,
    "pacing": 6,
    "ecn": 8,
    "receive_window_bytes": 6,
    "unsent_bytes_max": 8,
    "tls_version": 10,
    "early_data": 10,
    "session_tickets": 7,
    "visit": 14,
    "visitor": 7,
    "effective_connection_type": 10,
    "rate_down_bit_s": 9,
    "rtt_ms_min": 21,
    "queue_ms": 5,
    "loss_down": 7,
    "loss_up": 5,
    "cross_traffic": 19,
    "capture": 9,
    "timeout_s": 7,
    "device": 7,
    "javascript": 7,
    "after_load": 20,
    "trace": 7,
    "logs": 10,
    "origin_rtt": 9,
}
"""As many as name them today, where theory, judgement and validation compute with them, or where
the word means something else, too; a ceiling may only fall."""


def names_in(text: str) -> set[str]:
    """Attributes, whole strings, keywords and declarations."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Constant(value=str(name)) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


SCHEMAS = tuple(PACKAGE / "store" / name for name in ("told.py", "measured.py"))
"""What is read of a record and of a run's environment, by type: they declare the words of these,
which are the settings'."""


FILES_NAMING = Counter(
    name
    for file in PACKAGE.rglob("*.py")
    if file not in SCHEMAS
    for name in names_in(file.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (settings, field.name)
        for settings in FILES_MAX
        for field in fields(settings)
        if field.name not in HOMONYMS
    ],
)
def test_few_files_name_a_setting(settings: type, name: str) -> None:
    assert FILES_NAMING[name] <= CEILINGS.get(name, FILES_MAX[settings])


def test_what_has_fallen_stays_fallen() -> None:
    assert {name: FILES_NAMING[name] for name in CEILINGS} == CEILINGS
    known = {field.name for settings in FILES_MAX for field in fields(settings)}
    assert HOMONYMS.keys() <= known
