"""The files that a plan names, by their digests: recorded traces, those of stages, recordings."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from eyelevel.base.errors import InputChangedError, LabError, TraceError
from eyelevel.base.from_outside.files import read_bytes, text_of
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.lab.binary import run_tool
from eyelevel.plan.file.tables import TraceFile
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.stages import StagesRead
from eyelevel.plan.traces.mahimahi import mean_rate_bit_s, parse_mahimahi

RESTORE = "restore it, then continue with --resume"


def read_trace_file(name: str) -> TraceFile:
    """Read and check a trace in Mahimahi's format, relative to the working directory.

    Raises ValueError with file, line and remedy, as for errors of the plan itself.
    """
    path = Path(name)
    source = Source(name, TRACE, TraceError)
    try:
        content = read_bytes(path, source)
        opportunities_ms = parse_mahimahi(text_of(content, source, keep_mark=True), name)
    except TraceError as error:
        raise ValueError(str(error)) from error
    digest = hashlib.sha256(content).hexdigest()
    return TraceFile(str(path.resolve()), digest, mean_rate_bit_s(opportunities_ms))


def read_stages(text: str) -> StagesRead:
    """Read one direction's stages in the text form of the shell, or as a JSON list.

    The data plane parses and checks them; files are relative to the working directory. Raises
    ValueError with clause, or file and line, and remedy, as for errors of the plan itself.
    """
    try:
        (direction,) = run_tool(["stages", "--", text])
    except LabError as error:
        raise ValueError(str(error)) from error
    return StagesRead(**direction | {"stages": tuple(direction["stages"])})


def check_trace_files(trace_files: Mapping[str, str], network: Network) -> None:
    """Raise InputChangedError if a file of the network is missing or has changed."""
    for digest in network.file_digests():
        file = trace_files.get(digest)
        if file is None:
            raise InputChangedError(f"the file {digest} of the network is missing; give it")
        try:
            with Path(file).open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputChangedError(f"the file {file}: {error.strerror}; {RESTORE}") from error
        if found != digest:
            raise InputChangedError(
                f"the file {file} has changed since the plan was read; {RESTORE}"
            )


def check_recording(archive: str, site_digest: str, planned_digest: str) -> None:
    """Compare the digest of the recording that a lab serves with the plan's.

    Raises InputChangedError if they differ.
    """
    if site_digest != planned_digest:
        raise InputChangedError(
            f"the recording {archive} has changed since the plan was read (its digest is "
            f"{site_digest}, the plan's {planned_digest}); {RESTORE}"
        )
