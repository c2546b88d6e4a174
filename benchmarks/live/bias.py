"""Is the bias of replays told where there is one, and none where there is none?

    python -m benchmarks.live.bias DIR [--blocks 40] [--more 20] [--host-wait 30]

On a made Internet (nginx and Caddy behind an emulated path; needs root) a page is recorded, and
then loaded live and replayed in turns, twice: as it was recorded, and with MORE ms put on the way
to one of its two origins, of which the recording knows nothing. The page waits for that origin's
connection (two round trips), and for style and pictures, which it asks for at once (one): 3 x MORE
ms is what replays are too fast by then. DIR keeps all; an interrupted run goes on. Prints JSON:
both studies and the truth.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "helpers"))

from emulated_internet import STATIC, URL, emulated_internet  # type: ignore[import-not-found]

RTT_MS = 30.0
OWN_RTT_MS = {STATIC: 15.0}
ROUND_TRIPS = 3
STUDY_TIMEOUT_S = 4 * 3600


def study(directory: Path, name: str, own_rtt_ms: dict[str, float], words: list[str]) -> dict:
    """Return the result of `eyelevel validate live` if hosts have these round trips of their
    own."""
    out, recording = directory / name, directory / "recording.wacz"
    with emulated_internet(directory, RTT_MS, own_rtt_ms) as internet:
        trust = ["--upstream-ca", str(internet.authority)]
        if not recording.exists():
            done = internet.eyelevel("record", URL, "--out", str(recording), *trust)
            assert done.returncode == 0, done.stderr
        command = ["validate", "live", URL, "--against", str(recording), "--out", str(out)]
        done = internet.eyelevel(*command, *trust, *words, timeout_s=STUDY_TIMEOUT_S)
    print(done.stdout, done.stderr, file=sys.stderr)
    found: dict = json.loads((out / "live.json").read_text())
    return found


def main() -> None:
    """Both studies."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("directory", type=Path)
    arguments.add_argument("--blocks", type=int, default=40)
    arguments.add_argument("--more", type=float, default=20.0)
    arguments.add_argument("--host-wait", type=float, default=30.0)
    given = arguments.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    given.directory.chmod(0o755)
    words = ["--blocks", str(given.blocks), "--host-wait", str(given.host_wait)]
    farther = {STATIC: OWN_RTT_MS[STATIC] + given.more}
    found = {
        "as recorded": study(given.directory, "same", OWN_RTT_MS, words),
        "one origin farther": study(given.directory, "farther", farther, words),
        "truth_ms": {"as recorded": 0.0, "one origin farther": -ROUND_TRIPS * given.more},
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
