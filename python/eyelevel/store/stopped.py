"""The schema of `stop.json`: the decisions that end a study early (spec/plan.md)."""

from typing import Annotated, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.store.values import OBSERVED, Number

Repetition = Annotated[int, Field(ge=1, lt=2**31)]


@with_config(OBSERVED)
class Decided(TypedDict):
    """Decision on one comparison and network.

    `repetition`: the last one before the decision, null while it is open; `width`: width of its
    interval at that time, as a share.
    """

    network: str
    stack: str
    reference: str
    repetition: Repetition | None
    width: NotRequired[Number | None]


@with_config(OBSERVED)
class Stopped(TypedDict):
    """The last repetition before everything was decided, or null, and that of each network."""

    version: int
    repetition: Repetition | None
    reason: str
    networks: dict[str, Repetition]
    comparisons: list[Decided]


STOPPED: TypeAdapter[Stopped] = TypeAdapter(Stopped)
