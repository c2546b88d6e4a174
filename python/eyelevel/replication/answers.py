"""Answer a text's claims from runs and data sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.analysis.stats.paired_gains import performance_gain
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.replication.claims import Claim, Claims, Row
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.estimators import (
    SitePairs,
    Statistic,
    order_of,
    pair_loads_of_sites,
    share_of_sites,
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

Runs = Mapping[str, Mapping[str, StudyResults]]
"""The results by preset and network."""


@dataclass(frozen=True)
class RowAnswer:
    """The answer to one row of a claim."""

    row: Row
    found: Estimate
    verdict: Verdict
    loads: int
    """The fewest loads of a site and stack; of a data set, the pairs."""


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

    @property
    def asked(self) -> list[Answer]:
        """The claims that were measured."""
        return [each for each in self.answers if each.rows]

    def count(self, verdict: Verdict) -> int:
        """Return how many claims have a verdict."""
        return sum(each.verdict == verdict for each in self.asked)

    @property
    def expected_false(self) -> float:
        """How many of the verdicts are false on average, at most."""
        return count_expected_false(len(self.asked))

    def as_json(self) -> JsonObject:
        """Return the JSON of `eyelevel replicate` (docs/reference/replicate.md)."""
        return {
            "text": self.claims.text.name,
            "asked": len(self.asked),
            "agrees": self.count("agrees"),
            "disagrees": self.count("disagrees"),
            "cannot_tell": self.count("cannot tell"),
            "expected_false_max": round(self.expected_false, 2),
            "claims": [_claim_as_json(each) for each in self.answers],
        }


def answer_claims(claims: Claims, runs: Runs, data: DataSets, handshakes: LabHandshakes) -> Answers:
    """Answer what the runs, data sets and handshakes in a lab can answer."""
    answers = (_Asked(claims, each, runs, data, handshakes).answer for each in claims.claims)
    return Answers(claims, tuple(answers))


@dataclass(frozen=True)
class _Asked:
    """One claim with what may answer it."""

    claims: Claims
    claim: Claim
    runs: Runs
    data: DataSets
    handshakes: LabHandshakes

    @property
    def answer(self) -> Answer:
        claim = self.claim
        if not claim.is_askable:
            return Answer(claim, (), "not asked")
        rows = claim.rows
        answered = [row for row in rows if self._is_measured(row)]
        found = [self._answer_row(row, CONFIDENCE) for row in answered]
        corrected = [self._answer_row(row, confidence_of(len(answered))) for row in answered]
        verdict = judge_claim(
            [each.verdict for each in found],
            [each.verdict for each in corrected],
            are_complete=len(answered) == len(rows),
        )
        return Answer(claim, tuple(found), verdict)

    @cached_property
    def _results(self) -> Mapping[str, StudyResults]:
        plan = self.claim.plan or next(iter(self.claims.text.plans), "")
        return self.runs.get(plan, {})

    def _is_measured(self, row: Row) -> bool:
        if self.claim.is_of_handshakes:
            return self.handshakes.has(row)
        if self.claim.data:
            return self.data.has(row.network)
        return all(self._pairs(term) for term in self.claim.terms_of(row))

    def _answer_row(self, row: Row, confidence: float) -> RowAnswer:
        if not self.claim.is_of_study:
            if self.claim.is_of_handshakes:
                found = self.handshakes.estimate(row, confidence)
            else:
                found = self.data.estimate(self.claim, row, confidence)
            return RowAnswer(row, found, judge_row(found, region_of(self.claim, row)), found.n)
        loads = min(
            len(x) for term in self.claim.terms_of(row) for x, _ in self._pairs(term).values()
        )
        found = self._estimate(row, confidence)
        if loads < self.claim.blocks_min:
            reason = f"it takes {self.claim.blocks_min} loads of each, and there are {loads}"
            found = undetermined(reason, found.n, found.value)
        return RowAnswer(row, found, judge_row(found, region_of(self.claim, row)), loads)

    def _estimate(self, row: Row, confidence: float) -> Estimate:
        if self.claim.estimator.startswith("share_"):
            return share_of_sites(self.claim.estimator, self._pairs(row), confidence)
        if self.claim.scope == "property" and len(pairs := self._pairs(row)) == 1:
            return performance_gain(*next(iter(pairs.values())), confidence)
        terms = [self._statistic(term) for term in self.claim.terms_of(row)]
        if self.claim.rule != "order":
            return terms[0].estimate(confidence)
        steps = order_of(terms, absolute=self.claim.absolute)
        return min((step.estimate(confidence) for step in steps), key=_low)

    def _statistic(self, row: Row) -> Statistic:
        rtt_ms = self._results[row.network].network(row.network).rtt_ms_min
        return statistic_of(self.claim.estimator, self._pairs(row), rtt_ms)

    def _pairs(self, row: Row) -> SitePairs:
        results = self._results.get(row.network)
        if results is None:
            return {}
        pairs = pair_loads_of_sites(results.blocks.kept, row.network, row.stacks, row.metric)
        wanted = self.claim.sites or tuple(pairs)
        return {site: loads for site, loads in pairs.items() if site in wanted}


def _low(found: Estimate) -> float:
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
                "verdict": each.verdict,
                **each.found.as_json(),
            }
            for each in answer.rows
        ],
    }
