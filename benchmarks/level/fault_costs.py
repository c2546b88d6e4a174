"""Measure what planted faults cost a page: `python -m benchmarks.level.fault_costs`.

Needs root and a quiet machine, half an hour; what was loaded is kept in `--out`. Our own level
stacks are compared with themselves, each with one fault, on one page over one network. The result
is `python/eyelevel/calibration/level/fault_costs.json`, by which `eyelevel server check` orders
what it finds.
"""

import argparse
import json
import subprocess
import sys
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
METRICS = {
    "first_visual_change_ms": "First Visual Change",
    "speed_index_ms": "Speed Index",
    "page_load_time_ms": "Page Load Time",
}
"""The metrics of a cost: a fault may delay the start of a page and not what fills its link."""
CONFIDENCE = 1 - 0.05 / len(METRICS)


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
    Fault("a certificate chain of 4,000 bytes", {"certificate_chain_bytes": 4000}),
    Fault("no Alt-Svc", {"alt_svc": False}, ("h3",)),
)


def main() -> None:
    """Run a study per fault and HTTP version, and write and print the costs."""
    parser = parser_of(__doc__)
    parser.add_argument("--site", default="agency")
    parser.add_argument("--network", default="lte")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("results/fault-costs"))
    arguments = parser.parse_args()
    print(machine())
    costs = []
    for fault in FAULTS:
        for version in fault.versions:
            folder = arguments.out / fault.stack_name(version)
            _load(folder, _plan(fault, version, arguments))
            kept = read_results(folder).blocks.kept
            for metric, title in METRICS.items():
                ms = _cost(kept, metric, fault.stack_name(version), LEVEL[version])
                name = f"{version} {fault.name}, {title}"
                if not ms.determined:
                    print(f"{name}: {ms.reason}; not in the table")
                    continue
                print(f"{name}: {ms.value:+.0f} ms ({ms.low:+.0f} to {ms.high:+.0f})")
                numbers = {f"ms{end}": round(getattr(ms, of), 1) for end, of in ENDS.items()}
                costs.append(
                    {
                        "version": version, "fault": fault.name, "site": arguments.site,
                        "network": arguments.network, "metric": title, **numbers,
                    }
                )  # fmt: skip
    file = Path(report_card.__file__).with_name(report_card.COSTS_FILE)
    file.write_text(json.dumps({"costs": costs}, indent=1) + "\n")


def _load(folder: Path, plan: str) -> None:
    """Run a plan into a folder, or what is missing there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_suffix(".toml")
    file.write_text(plan)
    command = [str(Path(sys.executable).parent / "eyelevel"), "run", str(file), "--out"]
    resume = ["--resume"] if (folder / "plan.json").exists() else []
    subprocess.run([*command, str(folder), *resume], check=True)


def _cost(kept: pl.DataFrame, metric: str, stack: str, reference: str) -> Estimate:
    """Return the mean difference of blocks with both stacks, in ms.

    The intervals of all metrics hold together with 95 %.
    """
    values = kept.select("repetition", "stack", value=up_to_limit(metric))
    both = values.filter(stack=stack).join(values.filter(stack=reference), on="repetition")
    differences = (both["value"] - both["value_right"]).to_numpy()
    return mean_over_repetitions(differences[None, :], CONFIDENCE)


def _plan(fault: Fault, version: HttpVersion, arguments: argparse.Namespace) -> str:
    """Return the plan of a level stack with and without a fault.

    One block has two loads only: a disturbance during any load of a block takes the whole block
    away, and a block of all faults hardly ever passes without one.
    """
    name, level = fault.stack_name(version), LEVEL[version]
    ((key, value),) = fault.setting.items()
    return (
        f'title = "What it costs: {fault.name}"\nsites = ["{arguments.site}"]\n'
        f'networks = ["{arguments.network}"]\nblocks = {arguments.blocks}\n'
        f'stacks = ["{level}", {{ name = "{name}", base = "{level}", '
        f'{key} = {json.dumps(value)} }}]\nreference = "{level}"\n'
    )


if __name__ == "__main__":
    main()
