"""Every message of the data plane that people see has its way out, as those of Python have.

Templates are read first: what says the way out itself is done. Of the others each place that fills
one in is read. What the binary says of bad words is held to the same in `test_bad_words.py`.
"""

import errno
import re
from collections.abc import Iterator

import pytest
from remedies import has_remedy
from repository import ROOT
from rust_messages import Place, calls, templates

from eyelevel.base.errors import REFUSALS

CARRYING = re.compile(r"\brefusal\(|\bremedy\b|\b(?:OTHERWISE|GRAMMAR|REMEDY)\b")
"""What brings a way out into a message by its name."""

READ_BELOW = "each place that makes one is read below"
NOT_SEEN = "ends a connection or a stream; a peer sees its code"
WITHOUT: dict[str, str] = {
    "lab::Error::Config": READ_BELOW,
    "lab::Error::Shell": READ_BELOW,
    "archive::Error::Manifest": READ_BELOW,
    "archive::Error::Import": READ_BELOW,
    "edit::Error": READ_BELOW,
    "replay::ReplayError::Stack": READ_BELOW,
    "replay::ReplayError::Site": READ_BELOW,
    "congestion::CongestionError::Setting": READ_BELOW,
    "link::SpecError::Unit": "a quantity's own words",
    "path::CheckError::StageFile": "a stage's own words",
    "archive::Damage": "stands in `Damaged` and `Container`, or in what is left out of an import",
    "recorder::RecordError::Upstream": "a row of what is left out; `Nothing` says what to do",
    "recorder::RecordError::Refused": "a row of what is left out; `Nothing` says what to do",
    "http3::Error": NOT_SEEN,
    "replay::ReorderError::TooMuchWaits": NOT_SEEN,
}
"""Templates without a way out of their own."""

FILLED = [
    ("lab/src", r"\bError::(?:Config|Shell)\("),
    ("lab/src", r"\bErrorEvent \{"),
    ("lab/src", r"\bcomplain\("),
    ("archive/src/pack.rs", r"\bError::Manifest \{"),
    ("archive/src/import", r"\bError::Import \{"),
    ("edit/src", r"\b(?:Err|ok_or|ok_or_else)\("),
    ("replay/src/stack", r"\bErr\("),
    ("replay/src/server.rs", r"\bReplayError::Site \{"),
    ("congestion/src/settings.rs", r"\bCongestionError::Setting \{"),
    ("link/src", r"\bSpecError::setting\("),
]
HANDED_ON = re.compile(
    r"^(?:the path|check the path log \{\}|the lab ended|--network \{network\} and|\{\w*\}"
    r"|the transfer from \{\}|a transfer in virtual time|\W*)[: ]*(?:\{\w*\})?$"
)
"""A place, and then the words of somebody who has said the way out."""


def test_each_template_says_the_way_out_or_why_not():
    found = {each.name: each for each in templates()}
    without = {
        name
        for name, each in found.items()
        if "transparent" not in each.code
        and not has_remedy(" ".join(each.texts))
        and not CARRYING.search(each.code)
    }
    known = {name for name in without if name in WITHOUT or name.rpartition("::")[0] in WITHOUT}
    assert not without - known, "\n".join(f"{found[each].where}" for each in without - known)
    left = {name for name in WITHOUT if not any(each.startswith(name) for each in without)}
    assert not left, "named without need"


def test_each_place_that_fills_one_says_it():
    without = [f"{each.where}: {each.texts}" for each in filled() if not says_it(each)]
    assert not without, "\n".join(without)


def test_there_are_as_many_as_there_should_be():
    """A walk that finds nothing would find no fault."""
    assert len(list(templates())) > 60
    files = {each.where.partition(":")[0] for each in filled()}
    assert len(list(filled())) > 110
    assert {"lab/src/commands/confine.rs", "link/src/queue/red.rs", "archive/src/pack.rs"} <= files
    assert not says_it(Place("", "", 'format!("read {}: {error}", file.display())'))
    assert not says_it(Place("", "", '"a number is out of its range"'))
    assert says_it(Place("", "", 'format!("read {}: {}", file.display(), refusal(&error))'))


NAMELESS = errno.EMFILE
"""Too many open files: the standard library of Rust has no name for it."""


@pytest.mark.parametrize("number", sorted(REFUSALS.keys() - {NAMELESS}))
def test_what_a_system_refuses_is_told_alike_in_both_halves(number: int):
    _, way_out = REFUSALS[number]
    assert f'"{way_out}"' in (ROOT / "crates/units/src/refusal.rs").read_text("utf-8")


def filled() -> Iterator[Place]:
    """Places with words; what has none passes on a value that was read where it was made."""
    return (each for each in calls(FILLED, is_done) if each.texts)


def is_done(helper: Place) -> bool:
    """Whether it says the way out whatever it is called with."""
    return carries(Place("", "", re.sub(r"\bremedy\b", "", helper.code)))


def carries(place: Place) -> bool:
    return has_remedy("; ".join(place.texts)) or CARRYING.search(place.code) is not None


def says_it(place: Place) -> bool:
    return carries(place) or HANDED_ON.match(place.texts[-1]) is not None
