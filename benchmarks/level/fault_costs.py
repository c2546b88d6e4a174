"""Measure what planted faults cost a page: `python -m benchmarks.level.fault_costs`.

Needs root and a quiet machine, a quarter of an hour. Our own level stacks are compared with
themselves, each with one fault, on one page over one network, all in the same blocks. The result
is `python/eyelevel/calibration/level/fault_costs.json`, by which `eyelevel server check` orders
what it finds.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchmarks.shared.command import machine, parser_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.paired_gains import mean_over_repetitions
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.blocks import up_to_limit
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level import report_card
from eyelevel.plan.file.server_question import LEVEL
from eyelevel.plan.stacks import HttpVersion

ENDS = {"": "value", "_low": "low", "_high": "high"}
METRIC, TITLE = "speed_index_ms", "Speed Index"


@dataclass(frozen=True)
class Fault:
    """A planted fault: its name in report cards, the stack's setting, the HTTP versions."""

    name: str
    setting: JsonMapping
    versions: tuple[HttpVersion, ...] = ("h2", "h3")

    def stack_name(self, version: HttpVersion) -> str:
        """Return the name of the stack that has it."""
        return f"{version}-{'-'.join(self.setting)}"


FAULTS = (
    Fault("50 ms before the first byte", {"think_time": 50}),
    Fault("priorities ignored", {"priorities": False}),
    Fault("initial window of 10 packets", {"initial_window_packets": 10}),
    Fault("no pacing", {"pacing": False}),
    Fault("3 kB more certificates", {"certificate_chain_bytes": 6000}),
    Fault("no Alt-Svc", {"alt_svc": False}, ("h3",)),
)


def main() -> None:
    """Run the study, and write and print the costs."""
    parser = parser_of(__doc__)
    parser.add_argument("--site", default="agency")
    parser.add_argument("--network", default="lte")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--out", type=Path, help="the run's folder, kept to go on with --resume")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as own:
        folder = arguments.out or Path(own) / "run"
        plan = Path(own) / "plan.toml"
        plan.write_text(_plan(arguments.site, arguments.network, arguments.blocks))
        command = ["eyelevel", "run", str(plan), "--out", str(folder)]
        command += ["--resume"] if (folder / "plan.json").exists() else []
        subprocess.run([str(Path(sys.executable).parent / command[0]), *command[1:]], check=True)
        kept = read_results(folder).blocks.kept
        costs = []
        for fault in FAULTS:
            for version in fault.versions:
                ms = _cost(kept, fault.stack_name(version), LEVEL[version])
                print(
                    f"{version} {fault.name}: {ms.value:+.0f} ms ({ms.low:+.0f} to {ms.high:+.0f})"
                )
                numbers = {f"ms{end}": round(getattr(ms, of), 1) for end, of in ENDS.items()}
                costs.append(
                    {
                        "version": version, "fault": fault.name, "site": arguments.site,
                        "network": arguments.network, "metric": TITLE, **numbers,
                    }
                )  # fmt: skip
    file = Path(report_card.__file__).with_name(report_card.COSTS_FILE)
    file.write_text(json.dumps({"costs": costs}, indent=1) + "\n")


def _cost(kept: pl.DataFrame, stack: str, reference: str) -> Estimate:
    """Return the mean difference of blocks with both stacks, in ms, with its 95 % interval."""
    values = kept.select("repetition", "stack", value=up_to_limit(METRIC))
    both = values.filter(stack=stack).join(values.filter(stack=reference), on="repetition")
    return mean_over_repetitions((both["value"] - both["value_right"]).to_numpy()[None, :], 0.95)


def _plan(site: str, network: str, blocks: int) -> str:
    stacks = [json.dumps(name) for name in LEVEL.values()]
    comparisons = []
    for fault in FAULTS:
        for version in fault.versions:
            name = fault.stack_name(version)
            ((key, value),) = fault.setting.items()
            setting = f"{key} = {json.dumps(value)}"
            stacks.append(f'{{ name = "{name}", base = "{LEVEL[version]}", {setting} }}')
            comparisons.append(f'["{name}", "{LEVEL[version]}"]')
    return (
        f'title = "What planted faults cost"\nsites = ["{site}"]\nnetworks = ["{network}"]\n'
        f"blocks = {blocks}\nstacks = [{', '.join(stacks)}]\n"
        f'comparisons = [{", ".join(comparisons)}]\nprimary_metric = "{METRIC}"\n'
    )


if __name__ == "__main__":
    main()
