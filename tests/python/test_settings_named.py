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
    "cross_traffic": "the plan's twins, the lab's message and the record's goodputs",
    "after_load": "the record's steps and the files of their frames",
    "logs": "of the lab, of a trial's result and in the store's folder",
    "trace": "a network's stage and Chromium's way to take pictures",
    "congestion_control": "what a connection and a flow of cross traffic say of themselves",
    "unsent_bytes_max": "what a server saw at most, among a connection's events",
    "ecn": "what a path and a connection counted",
    "visit": "a visit of the recorder's, and which one a trial's record is of",
    "effective_connection_type": "what Chromium says of itself, and a column of RUM tables",
    "early_data": "the prober's own option, and what it measured",
    "http_version": "the prober's and the site check's, of which no stack is part",
    "tls_version": "what a handshake says of itself, in records and scans",
    "capture": "the module that takes pictures",
    "device": "the path's device, and packets lost there",
    "timeout_s": "how long something else is waited for: labs, commands, recordings",
}
"""Words that mean something else as well, which the syntax tree does not tell."""

CEILINGS = {
    "initial_window_packets": 8,
    "pacing": 6,
    "receive_window_bytes": 6,
    "session_tickets": 7,
    "visitor": 7,
    "stack_preset": 7,
    "rate_down_bit_s": 9,
    "rtt_ms_min": 21,
    "queue_ms": 5,
    "loss_down": 7,
    "loss_up": 5,
    "color_scheme": 5,
    "javascript": 9,
    "blocked_hosts": 5,
}
"""As many as name them today, where theory, judgement and validation compute with them; a ceiling
may only fall."""


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


FILES_NAMING = Counter(
    name for file in PACKAGE.rglob("*.py") for name in names_in(file.read_text(encoding="utf-8"))
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
