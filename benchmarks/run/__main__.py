"""The bounds of the whole run, measured on this machine: `make bench`.

Prints one line a figure: what was asked, and the median, least and largest of interleaved runs.
Nothing is asserted; `benchmarks/results` keeps results with their machine. Needs a quiet machine.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.shared.command import HEADING, Figure, machine, parser_of
from benchmarks.shared.generated_site import many_origins, one_large_object
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.load.trial import run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

LARGE_BYTES = 10_000_000
RATE_BIT_S = 25_000_000
RTT_MS = 24.0
# A queue of one bandwidth-delay product.
BULK = Network("bulk", RATE_BIT_S, RATE_BIT_S, RTT_MS, RTT_MS)
# What the headers of full packets and records leave of the rate, and 95 % of that is asked.
BULK_STACKS: dict[str, tuple[Stack, float]] = {
    "tcp+": (STACKS_BY_NAME["tcp+"], 0.964),
    "tcp+bbr": (STACKS_BY_NAME["tcp+bbr"], 0.964),
    "quic, 1452 bytes": (STACKS_BY_NAME["quic"], 0.957),
    "quic, 1200 bytes": (replace(STACKS_BY_NAME["quic"], quic_packet_bytes=1200), 0.948),
}
COST_STACKS = ("tcp+", "quic")


def startup(folder: Path, runs: int) -> list[Figure]:
    """Measure the time from the lab's start until its servers answer, with one origin and with
    sixty."""
    sites = {n: many_origins(_subfolder(folder, f"origins{n}"), n) for n in (1, 60)}
    figures = {n: Figure(f"lab up, {n} origins, ms", "<= 60") for n in sites}
    for _ in range(runs):
        for number, site in sites.items():
            with _lab(site, STACKS_BY_NAME["tcp+"], NETWORKS_BY_NAME["dsl"]) as lab:
                figures[number].values.append(lab.ready.startup_ms)
    return list(figures.values())


def load_cost(folder: Path, runs: int) -> list[Figure]:
    """Wall time of a whole trial beyond the page's own load time, the quiet second included."""
    site = open_site("agency")
    figures = {name: Figure(f"trial beyond the load, {name}, s", "<= 3.5") for name in COST_STACKS}
    for run in range(runs):
        for name in COST_STACKS:
            network, stack = NETWORKS_BY_NAME["dsl"], STACKS_BY_NAME[name]
            (trial,) = expand(one_cell(site.name, [network], stack, 1, run), [site.of_plan()])
            record = run_trial(trial, str(site.path.resolve())).record
            own_ms = record["navigation"]["page_load_time_ms"]
            figures[name].values.append((record["host"]["wall_ms"] - own_ms) / 1e3)
    return list(figures.values())


def bulk(folder: Path, runs: int) -> list[Figure]:
    """Return goodput of one large object over a lossless path, against what the headers allow."""
    site = one_large_object(_subfolder(folder, "large"), LARGE_BYTES)
    figures = {
        name: Figure(f"10 MB at 25 Mbit/s, {name}, share of rate", f">= {0.95 * limit:.3f}")
        for name, (_, limit) in BULK_STACKS.items()
    }
    for _ in range(runs):
        for name, (stack, _) in BULK_STACKS.items():
            with _lab(site, stack, BULK) as lab:
                raw = load_page(_settings(lab, stack))
            (large,) = [each for each in raw.objects if each.url.endswith("large.js")]
            assert large.finished_ms is not None and large.response_ms is not None, raw.detail
            seconds = (large.finished_ms - large.response_ms) / 1e3
            figures[name].values.append(LARGE_BYTES * 8 / seconds / RATE_BIT_S)
    return list(figures.values())


PARTS: dict[str, tuple[Callable[[Path, int], list[Figure]], int]] = {
    "startup": (startup, 9),
    "load-cost": (load_cost, 7),
    "bulk": (bulk, 5),
}


def main() -> None:
    """Measure the parts that the arguments name, all of them without any."""
    parser = parser_of(__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    parser.add_argument("--runs", type=int, help="how many of each, instead of each part's own")
    arguments = parser.parse_args()
    print(machine())
    print(HEADING)
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        for name in arguments.parts or PARTS:
            measure, runs = PARTS[name]
            for figure in measure(Path(folder), arguments.runs or runs):
                print(figure.line(), flush=True)


def _lab(site: Path, stack: Stack, network: Network) -> Lab:
    return Lab(LabConfig(lab_path(network), 1, str(site), lab_stack(stack, network)))


def _settings(lab: Lab, stack: Stack) -> LoadSettings:
    return LoadSettings(
        url=lab.ready.main_url or "",
        stack=stack,
        browser=Browser(capture=False),
        quic_origins=lab.ready.quic_origins(),
        spki_sha256=lab.ready.spki_sha256,
        command_prefix=lab.command_prefix,
    )


def _subfolder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made


if __name__ == "__main__":
    main()
