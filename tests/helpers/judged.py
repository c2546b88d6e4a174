"""Records judged together, as a run's are."""

from collections.abc import Iterable

import polars as pl

from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.analysis.trials.post_hoc_exclusions import judge_table
from eyelevel.analysis.trials.table import with_classes
from eyelevel.base.json_types import JsonMapping


def judge_all(records: Iterable[JsonMapping]) -> dict[str, tuple[str, str]]:
    """`hash -> (outcome, detail)` of every record."""
    schema = TRIAL_COLUMNS | FACT_COLUMNS
    facts = pl.DataFrame(list(map(facts_of, records)), schema=schema, orient="row")
    table = judge_table(with_classes(facts, {}))
    rows = table.select("hash", "outcome", "outcome_detail").iter_rows()
    return {name: (outcome, detail) for name, outcome, detail in rows}
