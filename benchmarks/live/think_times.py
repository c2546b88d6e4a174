"""Measure how far recorded think times are from the servers' own while another program uses the
CPU.

    python -m benchmarks.live.think_times DIR [--rounds 20] [--against BINARY] [--busy 2]

On a made Internet (nginx and Caddy behind an emulated path of 20 ms; needs root) `curl` asks for a
page and its objects at once, over HTTP/2 and over HTTP/1.1, through the recorder's proxy. The
servers think for a tenth of a millisecond, so that what is recorded beyond the path's round trip is
the recorder's doing. BINARY is another `eyelevel-lab`, which takes turns with this one; `--busy` is
how many loops take the processor meanwhile. DIR keeps the certificates. Prints JSON: of each binary
and protocol the excess in ms, median and 90th percentile.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from emulated_internet import (  # type: ignore[import-not-found]
    IMAGES,
    STATIC,
    URL,
    Internet,
    emulated_internet,
)

from eyelevel.lab.binary import find_binary

RTT_MS = 20.0
TIMEOUT_S = 60.0
PROTOCOLS = ("--http2", "--http1.1")


AT_ONCE = "--parallel-immediate"
"""A connection a request; without it curl waits for one that they can share."""


def recorded_ms(internet: Internet, binary: str, folder: Path, *how: str) -> list[float]:
    """Times from requests to first bytes as one recording has them; `how` curl asks."""
    out, har, authority = (folder / name for name in ("made.wacz", "made.har", "proxy.pem"))
    words = ["record", "--out", str(out), "--port", "0"]
    command = [*internet.lab.command_prefix, binary, *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        [*command, "--upstream-ca", str(internet.authority)], text=True, **pipes
    ) as recorder:
        assert recorder.stdin and recorder.stdout
        ready = json.loads(recorder.stdout.readline())
        authority.write_text(ready["ca_certificate"])
        urls = [URL, *(f"https://{STATIC}/{number}.png" for number in range(IMAGES))]
        curl = ["curl", "--no-progress-meter", "--parallel", *how]
        proxy = ["-x", f"http://{ready['credentials']}@{ready['address']}"]
        wanted = [word for url in urls for word in ("-o", "/dev/null", url)]
        subprocess.run(
            [*internet.lab.command_prefix, *curl, "--cacert", str(authority), *proxy, *wanted],
            check=True,
            timeout=TIMEOUT_S,
        )
        recorder.stdin.write('{"command": "stop"}\n')
        recorder.stdin.flush()
        written = json.loads(recorder.stdout.readline())
        assert written["event"] == "written", written
    subprocess.run(
        [binary, "archive", "export", str(out), "--har", str(har)],
        check=True,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    entries = json.loads(har.read_text())["log"]["entries"]
    out.unlink()
    return [entry["timings"]["wait"] for entry in entries]


def main() -> None:
    """All rounds, the binaries in turns."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", type=Path)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--against")
    arguments.add_argument("--busy", type=int, default=2)
    given = arguments.parse_args()
    folder = given.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    binaries = {"this": find_binary()} | ({"other": given.against} if given.against else {})
    excess_ms: dict[tuple[str, str], list[float]] = defaultdict(list)
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: 1"]) for _ in range(given.busy)]
    try:
        with emulated_internet(folder, RTT_MS) as internet:
            for _ in range(given.rounds):
                for protocol in PROTOCOLS:
                    for name, binary in binaries.items():
                        found = recorded_ms(internet, binary, folder, AT_ONCE, protocol)
                        excess_ms[name, protocol] += [ms - RTT_MS for ms in found]
    finally:
        for loop in loops:
            loop.kill()
    told = {
        f"{name} {protocol.removeprefix('--')}": summary(each)
        for (name, protocol), each in excess_ms.items()
    }
    print(json.dumps(told, indent=2))


def summary(excess_ms: list[float]) -> dict[str, float]:
    """Return the printed summary of some requests."""
    return {
        "requests": len(excess_ms),
        "median_ms": round(statistics.median(excess_ms), 3),
        "p90_ms": round(statistics.quantiles(excess_ms, n=10)[-1], 3),
    }


if __name__ == "__main__":
    main()
