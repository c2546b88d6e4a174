"""Summaries of Early Hints over the loads of a run: what they named, and what the browser did."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from eyelevel.analysis.early_hints import HintUse, hint_uses
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.report.figures.page_changes import LOADED

READ_MAX = 200
"""Loads of a stack that are read; what a browser does with a hint varies among fewer."""
NAMED_MAX = 3
"""Objects that a sentence names; more are counted."""


@dataclass(frozen=True)
class EarlyHintsSummary:
    """A summary of a stack's Early Hints over the loads of one site."""

    stack: str
    site: str
    loads: int
    received: int
    """The number of loads whose browser took in the 103."""
    wait_ms: float
    """The median time by which the 103 was ahead of the page's response, at the server."""
    uses: Mapping[str, Mapping[HintUse, int]]
    """The number of loads by use, of each hinted object, by URL."""
    left_out: Sequence[tuple[str, str]]
    """The render-blocking objects that were not hinted, each with its reason."""

    @property
    def sentence(self) -> str:
        """Return the summary in a sentence."""
        clauses = [f"{url} {_describe_uses(uses)}" for url, uses in self.uses.items()]
        text = f"the 103 was {self.wait_ms:.0f} ms ahead of the page; {_list(clauses)}"
        if self.received < self.loads:
            text += f"; the browser took in {self.received} of {self.loads}"
        if self.left_out:
            text += f"; left out: {_list([f'{url} {why}' for url, why in self.left_out])}"
        return f"Early Hints of {self.stack} in {self.site}: {text}."

    def as_json(self) -> JsonObject:
        """Return the summary for `--json`."""
        return {
            "stack": self.stack,
            "site": self.site,
            "loads": self.loads,
            "received": self.received,
            "wait_ms": self.wait_ms,
            "uses": {url: dict(uses) for url, uses in self.uses.items()},
            "left_out": [{"url": url, "reason": reason} for url, reason in self.left_out],
        }


def summarise_early_hints(results: StudyResults) -> Iterator[EarlyHintsSummary]:
    """Yield a summary of each stack with Early Hints on each site."""
    for stack in results.plan.stacks:
        for site in results.sites if stack.has_early_hints else ():
            hashes = results.table.filter(
                pl.col("site") == site,
                pl.col("stack") == stack.name,
                pl.col("outcome").is_in(LOADED),
            )["hash"][:READ_MAX]
            records = [results.trial(name).record for name in hashes]
            if loads := [record for record in records if "early_hints" in record]:
                yield _summarise(stack.name, site, loads)


def _summarise(stack: str, site: str, loads: Sequence[JsonMapping]) -> EarlyHintsSummary:
    uses: dict[str, Counter[HintUse]] = {}
    for record in loads:
        for url, use in hint_uses(record).items():
            uses.setdefault(url, Counter())[use] += 1
    waits_ms = [
        request["think_ms"]
        for record in loads
        for request in record["requests"]
        if request.get("early_hints")
    ]
    return EarlyHintsSummary(
        stack,
        site,
        len(loads),
        sum(record["early_hints"]["received"] for record in loads),
        median(waits_ms) if waits_ms else 0.0,
        uses,
        [(each["url"], each["reason"]) for each in loads[0]["early_hints"]["left_out"]],
    )


def _describe_uses(uses: Mapping[HintUse, int]) -> str:
    if len(uses) == 1:
        return f"was {next(iter(uses))}"
    loads = {use: "1 load" if count == 1 else f"{count} loads" for use, count in uses.items()}
    return "was " + ", ".join(f"{use} in {count}" for use, count in sorted(loads.items()))


def _list(parts: Sequence[str]) -> str:
    more = f", and {len(parts) - NAMED_MAX} more" if len(parts) > NAMED_MAX else ""
    return f"{', '.join(parts[:NAMED_MAX])}{more}"
