"""Stages that a plan's networks spell out, read and checked by the data plane's one parser."""

import hashlib
from pathlib import Path

from eyelevel.errors import LabError
from eyelevel.lab.binary import run_tool
from eyelevel.networks import stages as found_stages
from eyelevel.plan.file.tables import StagesRead
from eyelevel.run.trial.traces import read_trace_file


def read_stages(text: str) -> StagesRead:
    """Read one direction's stages in the text form of the shell, or as a JSON list.

    Files are relative to the working directory. Raises ValueError with clause, or file and line,
    and remedy, as a plan's own mistakes.
    """
    try:
        (stages,) = run_tool(["stages", "--", text])
    except LabError as error:
        raise ValueError(str(error)) from error
    rates = {
        name: read_trace_file(name).rate_bit_s_mean for name in found_stages.trace_files(stages)
    }
    rate_bit_s = found_stages.rate_bit_s(stages, rates.__getitem__)
    files: dict[str, str] = {}

    def by_digest(name: str) -> str:
        path = Path(name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        files[digest] = str(path.resolve())
        return found_stages.DIGEST + digest

    return StagesRead(
        stages=found_stages.with_files(stages, by_digest),
        files=files,
        rate_bit_s=rate_bit_s,
        delay_ms_min=found_stages.delay_ms_min(stages),
        queue_ms_max=found_stages.queue_ms_max(stages, rate_bit_s),
    )
