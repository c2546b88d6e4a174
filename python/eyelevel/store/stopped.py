"""The schema of `stop.json`: what was decided of a study before all its blocks (spec/plan.md)."""

from typing import Annotated, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.store.values import OBSERVED, Number

Repetition = Annotated[int, Field(ge=1, lt=2**31)]


@with_config(OBSERVED)
class Decided(TypedDict):
    """One comparison on one network; `repetition`: after which it was decided, null: it is open;
    `width`: its interval's then, a share."""

    network: str
    stack: str
    reference: str
    repetition: Repetition | None
    width: NotRequired[Number | None]


@with_config(OBSERVED)
class Stopped(TypedDict):
    """The repetition after which all was decided (null: not all), and after which each network's
    loads ended."""

    version: int
    repetition: Repetition | None
    reason: str
    networks: dict[str, Repetition]
    comparisons: list[Decided]


STOPPED: TypeAdapter[Stopped] = TypeAdapter(Stopped)
