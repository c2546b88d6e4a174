"""Open a run in notebooks: `import eyelevel; eyelevel.open(DIR).frame()`."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from eyelevel.analysis.claims import no_verdict_because, verdict_of
from eyelevel.analysis.gains.exclusions import MEASURED
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.analysis.trials.facts import PROGRESS_COLUMNS
from eyelevel.analysis.trials.waits import PART_OF
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.frames import Frames

# Columns that only the report needs.
_INTERNAL = (
    "missed",
    "final_picture",
    "stack_settings",
    "versions",
    MEASURED,
    *PROGRESS_COLUMNS,
    PART_OF,
)


@dataclass(frozen=True)
class Run:
    """The results in a directory written by `eyelevel run`."""

    directory: Path

    @cached_property
    def results(self) -> StudyResults:
        """The study's results, read once. Raises `StoreError` for a damaged record."""
        return read_results(self.directory)

    def frame(self) -> pl.DataFrame:
        """Return one row per trial: its conditions, outcome and metrics, null where there is none.

        `counted` is whether its block is used in comparisons. Metrics' names end with their units.
        """
        table = self.results.table
        counted = pl.col("hash").is_in(self.results.blocks.kept["hash"].to_list())
        return table.drop(_INTERNAL).with_columns(counted=counted)

    def progress(self) -> pl.DataFrame:
        """Return one row per step of a load's visual progress: `share` complete from `at_ms` on.

        Steps of less than half a percent are left out, and so are loads that are not ok or have no
        frames.
        """
        trial = ("hash", "site", "network", "stack", "repetition")
        counted = self.results.table.filter(outcome="ok")
        steps = counted.select(*trial, at_ms="progress_at_ms", share="progress_share").drop_nulls()
        return steps.explode("at_ms", "share")

    def cells(self) -> pl.DataFrame:
        """Return one row per site, network, comparison and metric.

        An estimate has the columns `gain`, `gain_low`, `gain_high`, `gain_p` and
        `gain_undetermined_because`; `difference` likewise.
        """
        rows = [
            {
                "network": cell.network,
                "site": cell.site,
                "stack": cell.stack,
                "reference": cell.reference,
                "metric": cell.metric,
                "pairs": cell.pairs,
                "timeouts": cell.timeouts,
                "timeouts_reference": cell.timeouts_reference,
                "median": cell.median,
                "median_reference": cell.median_reference,
                **cell.gain.as_columns("gain"),
                **cell.ratio_of_means.as_columns("ratio_of_means"),
                **cell.difference.as_columns("difference"),
                "anova": cell.anova.verdict,
                "anova_p": cell.anova.p,
            }
            for cell in self.results.cells
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def gains(self) -> pl.DataFrame:
        """Return one row per network, comparison and metric: means over the sites."""
        rows = [
            {
                "network": gain.network,
                "stack": gain.stack,
                "reference": gain.reference,
                "metric": gain.metric,
                **gain.gain.as_columns("gain"),
                **gain.median.as_columns("median"),
                **gain.difference.as_columns("difference"),
                **gain.ratio_of_means.as_columns("ratio_of_means"),
                "p_holm": gain.p_holm,
                "timeouts": gain.timeouts.count if gain.timeouts else None,
                "timeouts_reference": gain.timeouts.count_reference if gain.timeouts else None,
                "verdict": verdict_of(self.results, gain),
                "no_verdict_because": no_verdict_because(self.results, gain),
            }
            for gain in self.results.gains
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def record(self, trial: str) -> JsonMapping:
        """Return the raw record of a trial by its hash."""
        return self.results.trial(trial).record

    def frames(self, trial: str) -> Frames:
        """Return the frames of a trial by its hash."""
        return self.results.trial(trial).frames()
