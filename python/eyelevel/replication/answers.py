"""Answer a text's claims from runs and data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.analysis.stats.paired_gains import performance_gain
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.analysis.trials.starvation import find_withheld
from eyelevel.base.json_types import JsonObject
from eyelevel.replication.claims import Claim, Claims, FollowUp, Row
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.estimators import (
    NO_PAIRS,
    TIMEOUTS_SHARE_MAX,
    SitePairs,
    compare_neighbours,
    estimate_share_of_sites,
    pair_loads_of_sites,
    statistic_of,
)
from eyelevel.replication.lab_handshakes import LabHandshakes
from eyelevel.replication.verdicts import (
    Verdict,
    confidence_of,
    count_expected_false,
    judge_claim,
    judge_row,
    region_of,
    word_verdict,
)


@dataclass(frozen=True)
class MeasuredRun:
    """A run of one network, and its loads that count for claims.

    Intervals over sites need no repetitions, so that these are all loads of undisturbed blocks,
    unless most blocks were disturbed or late: then `withheld` has the reason, and none counts.
    """

    results: StudyResults

    @property
    def unfinished(self) -> str:
        """The progress of an incomplete run; empty if it is complete."""
        return self.results.unfinished

    @cached_property
    def _selection(self) -> tuple[pl.DataFrame, str]:
        results = self.results
        kept = select_blocks(results.table, [stack.name for stack in results.plan.stacks]).kept
        found = find_withheld(results.table, kept, repetitions_min=1)
        why = "; ".join(found.values())
        return (kept.clear() if why else kept), why

    @property
    def kept(self) -> pl.DataFrame:
        """The loads that count."""
        return self._selection[0]

    @property
    def withheld(self) -> str:
        """Why no load counts; empty if some do."""
        return self._selection[1]


Runs = Mapping[str, Mapping[str, MeasuredRun]]
"""The runs by preset and network."""


@dataclass(frozen=True)
class RowAnswer:
    """The answer to one row of a claim."""

    row: Row
    found: Estimate
    verdict: Verdict
    loads: int
    """The fewest loads of a site and stack; of a data set, its pairs; of a lab, the blocks."""


@dataclass(frozen=True)
class Answer:
    """The answer to one claim; without `rows`, nothing was measured that answers it."""

    claim: Claim
    rows: tuple[RowAnswer, ...]
    verdict: Verdict

    @property
    def words(self) -> str:
        """The verdict in the words of the claim's scope."""
        return word_verdict(self.claim, self.verdict)


@dataclass(frozen=True)
class Answers:
    """The answers to a text's claims, in its order."""

    claims: Claims
    answers: tuple[Answer, ...]
    again: tuple[tuple[FollowUp, tuple[Answer, ...]], ...] = ()
    """The answers of follow-ups, which are not among those of the text."""

    @property
    def measured(self) -> list[Answer]:
        """The claims that were measured."""
        return [each for each in self.answers if each.rows]

    def count(self, verdict: Verdict) -> int:
        """Return how many claims have a verdict."""
        return sum(each.verdict == verdict for each in self.measured)

    @property
    def false_verdicts_max(self) -> float:
        """How many of the verdicts are false on average, at most."""
        return count_expected_false(len(self.measured))

    def as_json(self) -> JsonObject:
        """Return the JSON of `eyelevel replicate` (docs/reference/replicate.md)."""
        return {
            "text": self.claims.text.name,
            "asked": len(self.measured),
            "agrees": self.count("agrees"),
            "disagrees": self.count("disagrees"),
            "cannot_tell": self.count("cannot tell"),
            "expected_false_max": self.false_verdicts_max,
            "claims": [_claim_as_json(each) for each in self.answers],
            "follow_ups": [
                {
                    "server": follow_up.server,
                    "stack": follow_up.stack,
                    "cause": follow_up.cause,
                    "claims": [_claim_as_json(each) for each in answers],
                }
                for follow_up, answers in self.again
            ],
        }


def answer_claims(claims: Claims, runs: Runs, data: DataSets, handshakes: LabHandshakes) -> Answers:
    """Answer what the runs, data sets and handshakes in a lab can answer."""

    def answer(every: Sequence[Claim]) -> tuple[Answer, ...]:
        found = (Question(claims, each, runs, data, handshakes).answer for each in every)
        return tuple(found)

    again = ((follow_up, answer(every)) for follow_up, every in claims.follow_up_claims)
    return Answers(claims, answer(claims.claims), tuple(again))


@dataclass(frozen=True)
class Question:
    """One claim with what may answer it."""

    claims: Claims
    claim: Claim
    runs: Runs
    data: DataSets
    handshakes: LabHandshakes

    @property
    def answer(self) -> Answer:
        """The answer to the claim."""
        claim = self.claim
        if not claim.is_askable:
            return Answer(claim, (), "not asked")
        rows = claim.rows
        measured = [row for row in rows if self.is_measured(row)]
        found = [self.answer_row(row) for row in measured]
        corrected = [self.answer_row(row, confidence_of(len(measured))) for row in measured]
        verdict = judge_claim(
            [each.verdict for each in found],
            [each.verdict for each in corrected],
            are_complete=len(measured) == len(rows),
        )
        return Answer(claim, tuple(found), verdict)

    @cached_property
    def _runs(self) -> Mapping[str, MeasuredRun]:
        plan = self.claim.plan or next(iter(self.claims.text.plans), "")
        return self.runs.get(plan, {})

    def is_measured(self, row: Row) -> bool:
        """Return whether there is something that answers a row."""
        if self.claim.is_of_handshakes:
            return self.handshakes.has(row)
        if self.claim.data:
            return self.data.has(row.network)
        return all(self._pairs(term).loads for term in self.claim.terms_of(row))

    def answer_row(self, row: Row, confidence: float = CONFIDENCE) -> RowAnswer:
        """Return the answer to a row, which is measured."""
        if self.claim.is_of_handshakes:
            found, loads = self.handshakes.estimate(row, confidence)
        elif self.claim.data:
            found, loads = self.data.estimate(self.claim, row, confidence)
        else:
            found, loads = self._estimate_of_loads(row, confidence)
        return RowAnswer(row, found, judge_row(found, region_of(self.claim, row)), loads)

    def _estimate_of_loads(self, row: Row, confidence: float) -> tuple[Estimate, int]:
        """Return the estimate of a row, and the fewest loads of a site that it rests on."""
        claim, terms = self.claim, self.claim.terms_of(row)
        if unfinished := [why for term in terms if (why := self._runs[term.network].unfinished)]:
            return undetermined(f"the run is not finished: {unfinished[0]}"), 0
        every = [self._pairs(term) for term in terms]
        pairs = [each.with_loads(claim.blocks_min) for each in every]
        if not all(each.loads for each in pairs):
            most = max(len(x) for x, _ in every[0].loads.values())
            reason = f"it takes {claim.blocks_min} loads of each, and there are {most}"
            return undetermined(reason), most
        loads = min(len(x) for each in pairs for x, _ in each.loads.values())
        if claim.estimator.startswith("share_"):
            return estimate_share_of_sites(claim.estimator, pairs[0], confidence), loads
        late = max(each.timeouts_share for each in pairs)
        if late > TIMEOUTS_SHARE_MAX:
            return undetermined(f"{late:.0%} of a stack's loads timed out"), loads
        if claim.scope == "property" and claim.estimator == "mean_gain" and claim.rule != "order":
            of_sites = pairs[0].up_to_limit()
            if len(of_sites) == 1:
                return performance_gain(*next(iter(of_sites.values())), confidence), loads
        statistics = [
            statistic_of(claim.estimator, each, self._rtt_ms(term))
            for each, term in zip(pairs, terms, strict=True)
        ]
        if claim.rule != "order":
            return statistics[0].estimate(confidence), loads
        steps = compare_neighbours(statistics, absolute=claim.absolute)
        return min((step.estimate(confidence) for step in steps), key=_lower_bound), loads

    def _rtt_ms(self, row: Row) -> float:
        return self._runs[row.network].results.network(row.network).rtt_ms_min

    def _pairs(self, row: Row) -> SitePairs:
        run = self._runs.get(row.network)
        if run is None:
            return NO_PAIRS
        pairs = pair_loads_of_sites(run.kept, row.network, row.stacks, row.metric)
        return pairs.with_sites(self.claim.sites) if self.claim.sites else pairs


def _lower_bound(found: Estimate) -> float:
    """Return the lower bound, by which the weakest step of an order decides."""
    return float("-inf") if found.low is None else found.low


def _claim_as_json(answer: Answer) -> JsonObject:
    claim = answer.claim
    return {
        "id": claim.id,
        "claim": claim.claim,
        "place": claim.place,
        "scope": claim.scope,
        "expected": claim.expected or None,
        "verdict": answer.verdict,
        "reason": claim.reason or None,
        "rows": [
            {
                "network": each.row.network or None,
                "metric": each.row.metric or None,
                "comparison": each.row.comparison or None,
                "number": each.row.number,
                "loads": each.loads,
                "units": each.found.n,
                "verdict": each.verdict,
                **each.found.as_json(),
            }
            for each in answer.rows
        ],
    }
