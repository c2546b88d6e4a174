"""The schema of `environment.json`: the fields that are read; further ones are allowed."""

from typing import NotRequired

from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.store.measured import LevelMeasured, StackCell
from eyelevel.store.values import OBSERVED, Count, Number


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
