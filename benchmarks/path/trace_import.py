"""Measure how fast `eyelevel trace import` is: files of 100 MB of each form against its bound.

Synthetic files: a packet-delivery trace, a series of delay and rate, a light recording with a short
saturated one, and tables of FCC (10 MB of them, of which as much is written as may be, and 100 MB
at rates that nearly nobody has) and MONROE. Nothing is asserted; `benchmarks/results` keeps results
with their machine. Takes about 1.2 GB of the temporary folder and 2 GB of memory.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.shared.command import HEADING, Figure, rounds

MEGABYTES = 100
ROUNDS = 3


def made(folder: Path) -> dict[str, list[Path]]:
    """The files of each form."""
    generator = np.random.default_rng(1)
    trace, series, light = folder / "trace", folder / "series.csv", folder / "light"
    steps = generator.integers(0, 3, 12 * 10**6).cumsum()
    _filled(trace, [f"{at}\n" for at in steps.tolist()])
    values = generator.random(3 * 10**6).tolist()
    rows = [
        f"{at / 100:.2f},{20 + 30 * value:.3f},{5 + 6 * value:.3f},{0.5 + value:.3f}\n"
        for at, value in enumerate(values)
    ]
    _filled(series, ["time_s,rtt_ms,down_mbps,up_mbps\n", *rows])
    packets = " ".join(f"{at * 1.25:g}" for at in range(20))
    trains = [f"{500 * at} {20 + 5 * value:.3f} {packets}\n" for at, value in enumerate(values)]
    _filled(light, trains)
    heavy = folder / "heavy"
    heavy.write_text("1\n1000\n", encoding="ascii")
    fast, slow, pings = folder / "fast.csv", folder / "slow.csv", folder / "pings.csv"
    _filled(fast, _fcc_rows(tests=2400, bytes_s=68_000), 10)
    _filled(slow, _fcc_rows(tests=22_000, bytes_s=6_000))
    rows = [
        f"{at % 50},89,{1463048694 + at // 50}.5,{20 + 30 * value:.3f}\n"
        for at, value in enumerate(values)
    ]
    _filled(pings, ["nodeid,iccid,timestamp,rtt\n", *rows])
    return {
        "trace": [trace],
        "delay and rate": [series],
        "light": [light, heavy],
        "FCC": [fast],
        "FCC, slow": [slow],
        "MONROE": [pings],
    }


def _fcc_rows(tests: int, bytes_s: int) -> list[str]:
    """Fifty units' tests of two intervals."""
    rows = [
        f"{386 + unit},2015-01-01 {test:06},a.example,{bytes_s},{sequence},1\n"
        for unit in range(50)
        for test in range(tests)
        for sequence in range(2)
    ]
    return ["unit_id,dtime,target,bytes_sec_interval,sequence,successes\n", *rows]


def _filled(file: Path, lines: list[str], megabytes: int = MEGABYTES) -> None:
    """Whole lines up to the megabytes."""
    content = "".join(lines).encode()[: megabytes * 10**6]
    file.write_bytes(content[: content.rindex(b"\n") + 1])


def main() -> int:
    """Print the figures."""
    count = rounds(__doc__, ROUNDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = made(folder)
        sizes = {form: sum(file.stat().st_size for file in each) for form, each in files.items()}
        figures = {
            form: Figure(f"{form}, {sizes[form] / 1e6:.0f} MB, s", "<= 10") for form in files
        }
        for number in range(count):
            for form, each in files.items():
                out = str(folder / f"out-{number}")
                command = [sys.executable, "-m", "eyelevel.cli.main", "trace", "import"]
                began = time.monotonic()
                subprocess.run(
                    [*command, *map(str, each), "--out", out], check=True, capture_output=True
                )
                figures[form].values.append(time.monotonic() - began)
                subprocess.run(["rm", "-r", out], check=True)
    print(HEADING)
    for figure in figures.values():
        print(figure.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
