"""Read `machines/ID.json` of a run: each machine's description and verdict."""

from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.directory import check_document
from eyelevel.store.environment import MachineEnvironment
from eyelevel.store.values import OBSERVED, Count, Number

MACHINES = "machines"
MACHINE_VERSION = 1
MACHINES_MAX = 10_000


@with_config(OBSERVED)
class RetiredSlot(TypedDict):
    """A slot that was retired, and why."""

    slot: Count
    reason: str


@with_config(OBSERVED)
class Machine(TypedDict):
    """A machine's description and verdict.

    `class`: machines of one class have comparable loads; null if it was refused. `facts`, times and
    `environment`: at the time of its classification, which stays unless a third machine shows that
    this one is the outlier. `reason`: why it is not in the first class, or not `admitted`.
    """

    version: Literal[1]
    machine: str
    name: str
    slots: Count
    facts: dict[str, str]
    page_load_time_ms: list[Number]
    processor_s: list[Number]
    problems: list[str]
    of_class: Annotated[Count | None, Field(alias="class")]
    reason: str
    admitted: NotRequired[bool]
    retired: NotRequired[list[RetiredSlot]]
    environment: NotRequired[MachineEnvironment]


MACHINE: TypeAdapter[Machine] = TypeAdapter(Machine)


def machine_file(directory: Path, machine: str) -> Path:
    """Return the path of one machine's file, by the machine's id."""
    return directory / MACHINES / f"{machine}.json"


def read_machine(file: Path) -> JsonObject:
    """Read one machine's file; raises `StoreError` if it is damaged or of another version."""
    content = read_bytes(file, Source(str(file), DOCUMENT, StoreError))
    return parse_machine(content, file.stem, str(file))


def parse_machine(content: bytes, machine: str, file: str) -> JsonObject:
    """Parse a machine's `file`, validated; raises `StoreError` as `read_machine` does."""
    document = parse_object(content, Source(file, DOCUMENT, StoreError))
    if document.get("version") != MACHINE_VERSION:
        raise StoreError(
            f"reading {file}: its version is not {MACHINE_VERSION}; use the eyelevel that wrote it"
        )
    check_document(MACHINE, document, file)
    if document["machine"] != machine:
        raise StoreError(
            f"reading {file}: it is of machine {excerpt(document['machine'])}; "
            "rename it accordingly"
        )
    return document


def refusal(document: JsonMapping) -> str | None:
    """Return why a machine takes no blocks; None if it takes some.

    A machine with earlier loads can be refused, too.
    """
    if not document.get("admitted", document["class"] is not None):
        return str(document["reason"])
    retired = document.get("retired", ())
    return str(retired[-1]["reason"]) if 0 < document["slots"] <= len(retired) else None


def read_machines(directory: Path) -> dict[str, JsonObject]:
    """Return all machines of a run by id; empty for a run on one machine. Raises `StoreError`."""
    files = sorted((directory / MACHINES).glob("*.json"))
    if len(files) > MACHINES_MAX:
        raise StoreError(
            f"reading {directory / MACHINES}: more than {MACHINES_MAX} machines; no run has so "
            "many, so remove those of other runs"
        )
    return {file.stem: read_machine(file) for file in files}
