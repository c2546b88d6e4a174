"""ECN off and on over kernel TCP and our QUIC: what comes to the path, what its queue does, what a
mark takes.

`python -m benchmarks.stacks.ecn [ROUNDS]` prints a line a stack: the same transfer over one path of
40 ms and 3 Mbit/s with FQ-CoDel, medians of packets from the servers by their ECN bits, drops,
marks and time; then, of longer transfers, what the congestion controls made of marks and of drops:
each new threshold over the window before it. A reduction to the same threshold again is not seen.
"""

import json
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.shared.command import rounds
from eyelevel.calibration.validation.bulk import bulk_site, fetch
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME

PATH = {
    "down": "delay 20ms, rate 3 Mbit/s, queue fq_codel",
    "up": "rate 3 Mbit/s, queue fq_codel, delay 20ms",
}
STACKS = ("tcp+", "quic", "tcp+bbr", "quic+bbr")
BODY_BYTES = 364_000
LONG_BYTES = 3_000_000
DURATION_MS = 60_000
CONTROLS = (("tcp+", "cubic"), ("quic", "cubic"), ("tcp+", "reno"), ("quic", "reno"))
EXIT_SHARE_MIN = 0.95
"""A threshold above this share of the window is slow start's end, and no reduction."""


def main(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        site, url = bulk_site(Path(folder), BODY_BYTES)
        print("stack     ecn  Not-ECT  ECT(0)  ECT(1)  CE  dropped  marked   time ms")
        for name in STACKS:
            for ecn in ("off", "on"):
                print(_line(name, ecn, rounds, site, url), flush=True)
        long_site, long_url = bulk_site(Path(folder), LONG_BYTES)
        print(
            "\nstack   control  ecn  thresholds  share of the window before: median  least   most"
        )
        for name, control in CONTROLS:
            for ecn in ("off", "on"):
                print(_reductions_line(name, control, ecn, long_site, long_url), flush=True)


def _stack(name: str, **changes: Any) -> dict[str, Any]:
    return lab_stack(replace(STACKS_BY_NAME[name], **changes), NETWORKS_BY_NAME["dsl"])


def _line(name: str, ecn: str, rounds: int, site: Path, url: str) -> str:
    stack = _stack(name, ecn=ecn)
    rows = []
    for seed in range(rounds):
        with Lab(LabConfig(PATH, seed, str(site), stack)) as lab:
            told = fetch(lab, stack, url, BODY_BYTES, DURATION_MS)
            summary = lab.stop()
        assert summary.path is not None
        down = summary.path["down"]
        came = [down["ecn"][bits] for bits in ("not_ect", "ect0", "ect1", "ce")]
        queue = [sum(down["dropped"].values()), down["marked_packets"]]
        rows.append([*came, *queue, told["duration_ms"]])
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    not_ect, ect0, ect1, ce, dropped, marked, ms = medians
    return (
        f"{name:8}  {ecn:3} {not_ect:8.0f} {ect0:7.0f} {ect1:7.0f} {ce:3.0f} {dropped:8.0f} "
        f"{marked:7.0f} {ms:9.0f}"
    )


def _reductions_line(name: str, control: str, ecn: str, site: Path, url: str) -> str:
    stack = _stack(name, ecn=ecn, congestion_control=control)
    kind = "tcp-info" if name.startswith("tcp") else "qlog"
    with tempfile.TemporaryDirectory() as folder:
        logs = {"folder": folder, "kinds": [kind]}
        with Lab(LabConfig(PATH, 1, str(site), stack, connection_logs=logs)) as lab:
            fetch(lab, stack, url, LONG_BYTES, DURATION_MS)
            lab.stop()
        (file,) = (each for each in Path(folder).iterdir() if each.stat().st_size)
        samples = _of_tcp(file) if kind == "tcp-info" else _of_quic(file)
        shares = list(_shares(samples))
    return (
        f"{name:6}  {control:7}  {ecn:3} {len(shares):11} {statistics.median(shares):35.3f} "
        f"{min(shares):6.3f} {max(shares):5.3f}"
    )


def _shares(samples: Iterator[tuple[float, float | None]]) -> Iterator[float]:
    """Yield each new threshold's share of the window in the sample before."""
    before, threshold = 0.0, None
    for window, new in samples:
        if new != threshold and new is not None and before and new / before < EXIT_SHARE_MIN:
            yield new / before
        before, threshold = window, new


def _of_tcp(file: Path) -> Iterator[tuple[float, float | None]]:
    for line in file.read_text().splitlines():
        sample = json.loads(line)
        yield sample["window_packets"], sample["slow_start_threshold_packets"]


def _of_quic(file: Path) -> Iterator[tuple[float, float | None]]:
    known: dict[str, Any] = {}
    for text in file.read_text().split("\x1e"):
        event = json.loads(text) if text.strip() else {}
        if event.get("name") == "quic:recovery_metrics_updated":
            known |= event["data"]
            yield known.get("congestion_window", 0.0), known.get("ssthresh")


if __name__ == "__main__":
    main(rounds(__doc__, 5))
