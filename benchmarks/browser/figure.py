"""One line of the browser's benchmark, and the trials that it measures."""

from dataclasses import dataclass

from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

HEADING = f"{'':58} {'asked':>10} {'measured':>10} {'least':>9} {'largest':>9}   Browsertime 27.5"


@dataclass(frozen=True)
class Figure:
    """A number against what is asked; `browsertime`: what it gave, as published."""

    what: str
    asked: str
    measured: float
    least: float | None = None
    largest: float | None = None
    browsertime: str = ""

    def line(self) -> str:
        """The row that is printed."""
        spread = ["" if each is None else f"{each:.3f}" for each in (self.least, self.largest)]
        row = f"{self.what:58} {self.asked:>10} {self.measured:10.3f} {spread[0]:>9} {spread[1]:>9}"
        return f"{row}   {self.browsertime}".rstrip()


def of_values(
    what: str, asked: str, values: list[float], measured: float, browsertime: str = ""
) -> Figure:
    """Return a figure with the least and the largest of `values`."""
    return Figure(what, asked, measured, min(values), max(values), browsertime)


def load(site: str, network: str, stack: str, seed: int, capture: bool = True) -> TrialResult:
    """One trial as a run does it; failures are outcomes of its record."""
    opened = open_site(site)
    settings = Browser(capture=capture)
    cell = one_cell(
        opened.name, [NETWORKS_BY_NAME[network]], STACKS_BY_NAME[stack], 1, seed, settings
    )
    (trial,) = expand(cell, [opened.of_plan()])
    return run_trial(trial, str(opened.path.resolve()))
