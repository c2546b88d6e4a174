"""The schema of `environment.json`: the fields that are read; further ones are allowed.

Schemas of the stack measurements made at a run's start, as rows of `environment.json`.

Rows of a level are described in docs/reference/level.md, cells of the yardstick in
docs/reference/yardstick.md. Only the fields that readers need are checked; further ones are
allowed.
"""

from typing import Annotated, Literal, NotRequired

from pydantic import AfterValidator, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from eyelevel.store.values import OBSERVED, Count, Number

Word = Literal["equal", "inherent", "browser", "unequal", "unknown", "absent"]
"""Verdict on a row of a level."""


@with_config(OBSERVED)
class Interval(TypedDict):
    """A value with its interval; null for undetermined ends."""

    value: Number | None
    low: Number | None
    high: Number | None


def _both_ends(found: Interval) -> Interval:
    if (found["low"] is None) != (found["high"] is None):
        raise ValueError("its interval has one end")
    return found


def _all_or_none(found: Interval) -> Interval:
    if len({each is None for each in (found["value"], found["low"], found["high"])}) > 1:
        raise ValueError("its value and its interval are not both there")
    return found


Ratio = Annotated[Interval, AfterValidator(_both_ends)]
"""An interval; a single run gives its value but no ends."""
Difference = Annotated[Interval, AfterValidator(_all_or_none)]


@with_config(OBSERVED)
class LevelRow(TypedDict):
    """One aspect of a pair of stacks on one network; `runs` has those of both stacks."""

    aspect: str
    scenario: str
    unit: str
    first: str | Number | None
    second: str | Number | None
    difference: Difference
    margin: Number
    allowed_low: NotRequired[Number | None]
    allowed_high: NotRequired[Number | None]
    word: Word
    because: str
    settings: list[str]
    runs: Annotated[list[Count], Field(min_length=2, max_length=2)]


@with_config(OBSERVED)
class LevelMeasured(TypedDict):
    """Measured level of a pair of stacks (`eyelevel validate level`), and the versions used."""

    first: str
    second: str
    complete: bool
    eyelevel: str
    binary: str
    kernel: str
    browser: str | None
    rows: list[LevelRow]


@with_config(OBSERVED)
class StackMoved(TypedDict):
    """Transfers of one stack of the yardstick: medians over its runs."""

    corrected_bit_s: Number
    retransmitted_share: Number
    queue_delay_ms_p95: Number | None
    lateness_us_p99: Number | None
    lost_outside_packets: Count
    failed_runs: Count


@with_config(OBSERVED)
class StackCell(TypedDict):
    """One network and congestion control of the yardstick (`eyelevel validate stacks`)."""

    network: str
    loss: Number
    congestion_control: str
    tcp: StackMoved
    quic: StackMoved
    ratio: Ratio
    few_losses: bool


@with_config(OBSERVED)
class PathCheck(TypedDict):
    """A check of the emulated path: measured value, bound, and whether it held.

    The bound's fields are null without a bound.
    """

    measured: str
    bound: str
    passed: bool | None


@with_config(OBSERVED)
class MachineEnvironment(TypedDict):
    """Machine, kernel, versions, and measurements made before the first load on it."""

    versions: NotRequired[dict[str, str]]
    cores: NotRequired[Count | None]
    load_1min: NotRequired[Number | None]
    path_checks: NotRequired[dict[str, PathCheck]]
    stacks_validated: NotRequired[list[StackCell] | None]
    levels: NotRequired[list[LevelMeasured] | None]


@with_config(OBSERVED)
class Environment(MachineEnvironment):
    """The machine that loads, and the parts that concern the study wherever it is loaded.

    `client`: for a run on a cluster, the machine that only commits; machines that load are
    described in `machines/`.
    """

    client: NotRequired[MachineEnvironment]
    altered_sites: NotRequired[dict[str, list[str]]]
    secure_shares: NotRequired[dict[str, Number]]


CLIENT = "client"
"""Key of the machine that commits a cluster's loads. Loads without the cluster ran on it."""

ENVIRONMENT: TypeAdapter[Environment] = TypeAdapter(Environment)
