"""Summaries of live builds over the loads of a run: what they cost, and whether they vary."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

import polars as pl

from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.variants import SLASH
from eyelevel.report.figures.page_changes import LOADED

READ_MAX = 200
"""Loads of a variant that are read; an answer that varies does so among fewer."""


@dataclass(frozen=True)
class LiveBuildSummary:
    """A summary of a variant's live build over the loads of one site."""

    variant: str
    site: str
    url: str
    others: str
    """`blocked` or `recorded`: what answers for third parties."""
    loads: int
    documents: int
    """The number of different documents."""
    server_cpu_ms: float | None
    """The mean processor time of the server for a load; None: not known."""
    server_ms: float | None
    """The median time from a document's request to its response, at the server."""
    rewritten: float
    """The median number of names of the local origin that were rewritten."""
    unsearched: int
    upgrades_refused: int

    @property
    def is_deterministic(self) -> bool:
        """Return whether all loads got the same document."""
        return self.documents <= 1

    @property
    def sentence(self) -> str:
        """Return the summary in a sentence."""
        clauses = [
            f"third parties are {self.others}",
            "its document is the same in all loads"
            if self.is_deterministic
            else f"not deterministic: {self.documents} different documents in {self.loads} loads",
        ]
        if self.server_ms is not None:
            clauses.append(f"its server answers after {self.server_ms:.1f} ms")
        if self.server_cpu_ms is not None:
            clauses.append(f"{self.server_cpu_ms:.0f} ms of processor time a load")
        if self.rewritten:
            clauses.append(f"{self.rewritten:g} names of {self.url} rewritten a load")
        if self.unsearched:
            clauses.append(f"{self.unsearched} encoded texts were not searched for such names")
        if self.upgrades_refused:
            clauses.append(f"{self.upgrades_refused} WebSockets refused")
        return f"{self.variant} is live ({self.url}) in {self.site}: {'; '.join(clauses)}."

    def as_json(self) -> JsonObject:
        """Return the summary for `--json`."""
        return {
            "variant": self.variant,
            "site": self.site,
            "url": self.url,
            "others": self.others,
            "loads": self.loads,
            "documents": self.documents,
            "server_cpu_ms": self.server_cpu_ms,
            "server_ms": self.server_ms,
            "names_rewritten": self.rewritten,
            "bodies_unsearched": self.unsearched,
            "upgrades_refused": self.upgrades_refused,
        }


def live_builds(results: StudyResults) -> Iterator[LiveBuildSummary]:
    """Yield a summary of each live build on each site; nothing for a plan without one."""
    for variant in results.plan.variants:
        if variant.live is None:
            continue
        for site in results.sites:
            hashes = results.table.filter(
                pl.col("site") == site,
                pl.col("stack").str.starts_with(f"{variant.name}{SLASH}"),
                pl.col("outcome").is_in(LOADED),
            )["hash"][:READ_MAX]
            records = [results.trial(name).record for name in hashes]
            if seen := _summarise(variant.name, site, records):
                yield seen


def _summarise(variant: str, site: str, records: Sequence[JsonMapping]) -> LiveBuildSummary | None:
    loads = [record["live"] for record in records if "live" in record]
    if not loads:
        return None
    cpu = [load["server_cpu_s"] for load in loads if load["server_cpu_s"] is not None]
    waits = [
        request["server_us"] / 1e3
        for record in records
        for request in record["requests"][:1]
        if request["match"] == "live"
    ]
    return LiveBuildSummary(
        variant,
        site,
        loads[0]["url"],
        loads[0]["others"],
        len(loads),
        len({load["document_sha256"] for load in loads} - {None}),
        1e3 * mean(cpu) if cpu else None,
        median(waits) if waits else None,
        median(load["names_rewritten"] + load["fields_rewritten"] for load in loads),
        sum(load["bodies_unsearched"] for load in loads),
        sum(load["upgrades_refused"] for load in loads),
    )
