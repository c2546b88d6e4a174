"""Do requests leave Firefox alike over all stacks?

Loads the page that `eyelevel validate level` has made over `tcp+`, `quic` and `quic` without
Alt-Svc in turn, over 200 ms at 100 Mbit/s and over `da2gc`, and prints what the page's server saw
of each load: connections, and unused ones; images that came within a round trip of the first one,
before any could have ended; pairs of requests of different kinds that came in another order than
the page has them; requests before the late script; what each kind asked for. Firefox has no network
log, and what it reports of images that it had begun to fetch ahead is not when it asked for them.
"""

import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.shared.command import parser_of
from eyelevel.calibration.level.generated_page import HOST, kind_of
from eyelevel.calibration.level.page_values import late_script_place, order_share, priorities
from eyelevel.calibration.measuring.runs import write_generated_page
from eyelevel.load.trial import run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.sites.recorded import open_site
from eyelevel.store.unused_connections import count_unused_connections

RUNS = 2
RETRIES = 3
PLAN = """
sites = ["{site}"]
networks = [{{ name = "far", rate_down_bit_s = 100_000_000, rate_up_bit_s = 100_000_000, \
rtt_ms_min = 200, queue_ms = 200 }}, "da2gc"]
stacks = ["tcp+", "quic", {{ name = "quic - no Alt-Svc", base = "quic", alt_svc = false }}]
reference = "tcp+"
blocks = {runs}
browser = "firefox"
capture = false
"""


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="eyelevel-") as folder:
        site = open_site(str(write_generated_page(Path(folder) / "level.wacz")))
        plan = parse_plan(PLAN.format(site=site.path, runs=runs), "firefox_requests.toml")
        for trial in expand(plan, [Site(site.name, site.of_plan().digest)]):
            for _ in range(1 + RETRIES):
                record = run_trial(trial, str(site.path)).record
                if record["outcome"] == "ok":
                    break
            found[trial.network, trial.stack].append(_seen(record))
    for (network, stack), loads in sorted(found.items()):
        for load in loads:
            print(f"{network:6} {stack:18} {load}")


def _seen(record: Mapping[str, Any]) -> str:
    """One load in a line."""
    requests = sorted(record["requests"], key=lambda each: each["at_ns"])
    own = [urlsplit(each["url"]) for each in requests]
    paths = [each.path for each in own if each.netloc == HOST]
    images = [each["at_ns"] for each in requests if kind_of(urlsplit(each["url"]).path) == "image"]
    rtt_ns = record["trial"]["network_settings"]["rtt_ms_min"] * 1e6
    at_once = sum(at < images[0] + rtt_ns for at in images)
    opened = count_unused_connections(record)
    return (
        f"{record['outcome']}, {opened and opened.connections} connections, "
        f"{opened and opened.unused} unused, {at_once} of {len(images)} images at once, "
        f"{order_share(paths):.1%} turned, late script after {late_script_place(paths):.0f}; "
        f"{priorities(requests)}"
    )


if __name__ == "__main__":
    main()
