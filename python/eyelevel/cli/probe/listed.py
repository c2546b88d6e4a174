"""Probe a list of hosts one after the other, with progress and resumption (`probe --list`)."""

from pathlib import Path

from eyelevel.base.errors import INTERRUPTS, ProbeError
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.output import hints, say
from eyelevel.cli.probe.output import Sink
from eyelevel.cli.probe.progress import GO_ON, NO_GOING_ON, progress
from eyelevel.lab.prober import probe_events
from eyelevel.probes.target_list import Key, key_of, list_row, read_finished_targets, target_row


def resumable(out: Path | None, parquet: Path | None) -> Path:
    """Return the file of rows to resume. Raises `ProbeError`."""
    if out is None:
        raise ProbeError("--resume needs --out, the file to continue")
    if parquet is not None:
        raise ProbeError("--resume continues --out: leave out --parquet, which starts a new file")
    if not out.exists():
        raise ProbeError(f"{out} does not exist: leave out --resume to begin")
    return out


def measure_list(config: JsonObject, sink: Sink, resumed: Path | None) -> None:
    """Measure one round over all targets except those with complete rows in `resumed`.

    A host that was interrupted is measured again completely; its earlier rows stay.
    """
    before = read_finished_targets(resumed) if resumed else set()
    left = [target for target in config["targets"] if key_of(target) not in before]
    total = len(config["targets"])
    count = total - len(left)
    if resumed:
        hints.print(f"{count} of {total} hosts are in {resumed}", markup=False, soft_wrap=True)
    else:
        sink.mark(list_row(total))
    if not left:
        return
    current: Key | None = None
    with progress("hosts", total) as shown:
        shown(count, f"now {left[0]['host']}")
        try:
            for row in probe_events("probe", config | {"targets": left}):
                if current is not None and key_of(row) != current:
                    count += 1
                    _end(sink, current)
                    shown(count, f"now {row['host']}")
                current = key_of(row)
                sink.take(row)
            if current is not None:
                count += 1
                _end(sink, current)
                shown(count, "all measured")
        except INTERRUPTS:
            how = GO_ON if sink.has_file else NO_GOING_ON
            say(hints, f"stopped after {count} of {total} hosts: {how}")
            raise


def _end(sink: Sink, key: Key) -> None:
    sink.mark(target_row(key))
    sink.round_over()
