"""Read a text's claims from a file: place, number or sign, estimator, and what can be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.errors import ExpectedError, reason_of, unknown
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.plan.presets import PRESETS_BY_NAME
from eyelevel.plan.stacks import EXTERNAL_SERVER_MARK

Scope = Literal["property", "population", "data", "only-there", "lost", "unclear", "no-means"]
CANNOT_BE_ASKED: tuple[Scope, ...] = ("only-there", "lost", "unclear", "no-means")
Rule = Literal["number", "sign", "equivalence", "order", "bound"]
StudyEstimator = Literal[
    "mean_gain",
    "mean_difference_ms",
    "residual_rtt",
    "median_change",
    "median_of_loads_change",
    "p95_change",
    "spread_of_gains",
    "share_faster",
    "share_slower",
    "share_undecided",
]
DataEstimator = Literal[
    "share_faster",
    "share_faster_by",
    "quantile_ms",
    "row_count",
    "median_dns_ms",
    "handshake_round_trips_saved",
]
Figure = Literal[
    "gain-cdf",
    "mean-gains",
    "heat-map",
    "grid-cdf",
    "cellular-cdf",
    "congestion-cdf",
    "time-cdf",
    "differences-cdf",
    "handshakes-cdf",
]
"""The figures of a page (`eyelevel.replication.figures`)."""
STUDY_ESTIMATORS: tuple[str, ...] = get_args(StudyEstimator)
DATA_ESTIMATORS: tuple[str, ...] = get_args(DataEstimator)

MARGIN_MIN = 0.03
"""The default margin of a number, 3 points, unless MARGIN_SHARE of the number is more."""
MARGIN_SHARE = 1 / 3
STRICT = ConfigDict(extra="forbid")


class ClaimsError(ExpectedError):
    """A file of claims is invalid; the message has file, claim, fault and remedy."""


@checked_dataclass(frozen=True, config=STRICT)
class Term:
    """One side of a claim about an order; empty names are those of the claim's row."""

    comparison: str = ""
    network: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Row:
    """One question of a claim: a comparison of one metric on one network, or of one data set."""

    network: str
    metric: str
    comparison: str
    number: float | None

    @property
    def stacks(self) -> tuple[str, str]:
        """The stack and its reference."""
        stack, _, reference = self.comparison.partition("/")
        return stack, reference


@checked_dataclass(frozen=True, config=STRICT)
class Claim:
    """A claim of a text, which holds if it holds in all of its rows."""

    id: str
    place: str
    claim: str
    scope: Scope
    reason: str = ""
    rule: Rule | None = None
    estimator: StudyEstimator | DataEstimator = "mean_gain"
    metrics: tuple[str, ...] = ("speed_index_ms",)
    comparisons: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    plan: str = ""
    data: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    """For a property: the sites that show it."""
    number: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0
    """For the sign of each of `numbers`: the absolute number from which it is claimed."""
    margin: float | None = None
    sign: Literal["negative", "positive", "above", "below"] | None = None
    terms: tuple[Term, ...] = ()
    absolute: bool = False
    percent: float | None = None
    least_ms: float | None = None
    blocks_min: int = 1
    expected: Literal["", "agrees", "disagrees"] = ""

    @property
    def is_askable(self) -> bool:
        """Whether it can be decided here."""
        return self.scope not in CANNOT_BE_ASKED

    @property
    def is_of_study(self) -> bool:
        """Whether loads of pages answer it."""
        return self.is_askable and not self.data and self.estimator in STUDY_ESTIMATORS

    @property
    def is_of_handshakes(self) -> bool:
        """Whether handshakes in a lab answer it; `networks` has the servers."""
        return self.is_askable and self.estimator == "handshake_round_trips_saved"

    @property
    def rows(self) -> list[Row]:
        """The questions; networks whose number is below `least` are left out."""
        places = self.data or self.networks
        names = [n for n in places if abs(self.number_of(n) or 0.0) >= self.least]
        if self.rule == "order":
            lacks_network = any(not term.network for term in self.terms)
            lacks_metric = any(not term.metric for term in self.terms)
            return [
                Row(network, metric, "", None)
                for network, metric in product(
                    names if lacks_network else [""], self.metrics if lacks_metric else [""]
                )
            ]
        metrics = self.metrics if self.is_of_study else ("",)
        comparisons = self.comparisons or ("",)
        return [
            Row(network, metric, comparison, self.number_of(network))
            for network, metric, comparison in product(names, metrics, comparisons)
        ]

    def number_of(self, place: str) -> float | None:
        """Return the published number on a network or of a data set; None without one."""
        return self.numbers.get(place, self.number)

    def margin_of(self, number: float) -> float:
        """Return how far from a published number ours may lie."""
        if self.margin is not None:
            return self.margin
        return max(MARGIN_MIN, MARGIN_SHARE * abs(number))

    def terms_of(self, row: Row) -> list[Row]:
        """Return the estimates that a row needs: itself, or the terms of its order."""
        if self.rule != "order":
            return [row]
        return [
            Row(
                term.network or row.network,
                term.metric or row.metric,
                term.comparison or next(iter(self.comparisons), ""),
                None,
            )
            for term in self.terms
        ]

    @property
    def cells(self) -> set[tuple[str, str]]:
        """The pairs of network and comparison whose loads it needs."""
        return {(each.network, each.comparison) for row in self.rows for each in self.terms_of(row)}


@checked_dataclass(frozen=True, config=STRICT)
class Text:
    """A text with claims."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    citation: str
    short: str
    plans: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    """The figures that belong to it."""
    notes: tuple[str, ...] = ()
    """The findings of tests of suspected causes, which the page prints."""


@checked_dataclass(frozen=True, config=STRICT)
class FollowUp:
    """Claims that are asked again with a suspected cause: another server of one stack."""

    claims: tuple[str, ...]
    stack: str
    server: str
    """A recipe of `eyelevel server recipe`, which serves the stack's loads in place of ours."""
    cause: str
    """The suspected cause, and what stands for it here."""

    @property
    def stack_name(self) -> str:
        """The name in a plan of the stack with this server."""
        return f"{self.stack}-{self.server}"

    def plan_of(self, preset: str) -> str:
        """Return the name of a preset's runs with this server."""
        return f"{preset}+{self.server}"

    def ask(self, claim: Claim, preset: str) -> Claim:
        """Return a claim about the stack as one about the stack with this server."""
        served = f"{self.stack_name}{EXTERNAL_SERVER_MARK}"
        pairs = (pair.split("/") for pair in claim.comparisons)
        comparisons = tuple(
            "/".join(served if name == self.stack else name for name in pair) for pair in pairs
        )
        return replace(claim, plan=self.plan_of(preset), comparisons=comparisons, expected="")


@dataclass(frozen=True)
class Claims:
    """The claims of one text, in its order."""

    text: Text
    claims: tuple[Claim, ...]
    follow_ups: tuple[FollowUp, ...] = ()

    def of_plan(self, plan: str) -> list[Claim]:
        """Return the claims that runs of a preset answer, or those of a follow-up."""
        first = next(iter(self.text.plans), "")
        own = [each for each in self.claims if each.is_of_study and (each.plan or first) == plan]
        return own or [
            each for found in self.follow_up_claims for each in found[1] if each.plan == plan
        ]

    @property
    def follow_up_claims(self) -> list[tuple[FollowUp, list[Claim]]]:
        """The follow-ups, each with its claims as they are asked again."""
        return [
            (each, [each.ask(claim, preset) for preset in self.text.plans
                    for claim in self.of_follow_up(each, preset)])
            for each in self.follow_ups
        ]  # fmt: skip

    def of_follow_up(self, follow_up: FollowUp, preset: str) -> list[Claim]:
        """Return the claims of a preset that are asked again, as they are."""
        first = next(iter(self.text.plans), "")
        return [
            each
            for each in self.claims
            if each.id in follow_up.claims and (each.plan or first) == preset
        ]

    @property
    def runs(self) -> list[str]:
        """The names before the networks' of all runs: presets, then those of follow-ups."""
        again = [each.plan for _, claims in self.follow_up_claims for each in claims]
        return list(dict.fromkeys([*self.text.plans, *again]))


Table = TypeVar("Table")
_TEXT = TypeAdapter(Text)
_CLAIM = TypeAdapter(Claim)
_FOLLOW_UPS = TypeAdapter(tuple[FollowUp, ...])
_FOLDER = files("eyelevel.replication") / "claims"


def list_texts() -> list[str]:
    """Return the names of the shipped texts."""
    names = (each.name for each in _FOLDER.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def read_claims(name: str) -> Claims:
    """Read the claims of a shipped text, or of a file. Raises `ClaimsError`."""
    if name in list_texts():
        text, place = (_FOLDER / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml"
    elif Path(name).is_file():
        text, place = read_text(Path(name), _source(name)), name
    else:
        fault = unknown("text", name, list_texts())
        raise ClaimsError(f"{fault}; or give a file of claims, NAME.toml")
    return parse_claims(text, place)


def parse_claims(text: str, place: str) -> Claims:
    """Parse a file of claims; `place` names it in messages. Raises `ClaimsError`."""
    source = _source(place)
    document = parse_toml(text, source)
    follow_ups = document.pop("follow_ups", [])
    if set(document) != {"text", "claims"} or not isinstance(document["claims"], list):
        fault = (
            "it must have `[text]` and `[[claims]]`, may have `[[follow_ups]]`, and nothing else"
        )
        raise source.refusal(fault)
    parsed = _validate(_TEXT, document["text"], source, "text")
    if wrong := [each for each in parsed.plans if each not in PRESETS_BY_NAME]:
        raise source.refusal(unknown("plan", wrong[0], PRESETS_BY_NAME), "text")
    found: dict[str, Claim] = {}
    for number, table in enumerate(document["claims"], 1):
        name = str(table.get("id", f"claim {number}")) if isinstance(table, dict) else str(number)
        claim = _validate(_CLAIM, table, source, name)
        if claim.id in found:
            raise source.refusal("this claim is there twice", name)
        if fault := _fault_of(claim, parsed.plans):
            raise source.refusal(fault, name)
        found[claim.id] = claim
    again = _validate(_FOLLOW_UPS, follow_ups, source, "follow_ups")
    for name in (name for each in again for name in each.claims):
        if name not in found or not found[name].is_of_study:
            raise source.refusal(f"`{name}` is no claim that loads answer", "follow_ups")
    return Claims(parsed, tuple(found.values()), again)


def _source(name: str) -> Source:
    return Source(name, PLAN, ClaimsError)


def _validate(adapter: TypeAdapter[Table], table: object, source: Source, place: str) -> Table:
    try:
        return adapter.validate_python(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise source.refusal(f"`{key}`: {reason_of(first)}", place) from error


def _fault_of(claim: Claim, plans: Sequence[str]) -> str:
    """Return what a claim lacks to be asked; empty if nothing."""
    if not claim.is_askable:
        return "" if claim.reason else f"`scope = {claim.scope}` needs a `reason`"
    if claim.rule is None:
        return "it can be asked, so it needs a `rule`"
    has_own = bool(claim.terms) and all(each.network for each in claim.terms)
    if not (claim.data or claim.networks or has_own):
        return "it names neither `networks` nor `data`"
    if claim.is_of_study and not plans:
        return "loads answer it, so `[text]` needs `plans`"
    if claim.is_of_study and claim.plan not in ("", *plans):
        return unknown("plan", claim.plan, plans)
    if claim.data and claim.estimator not in DATA_ESTIMATORS:
        return unknown("estimator", claim.estimator, DATA_ESTIMATORS)
    places = claim.data or claim.networks
    if claim.rule == "number" and any(claim.number_of(each) is None for each in places):
        return "a claim of a number needs `number`, or `numbers` for each place"
    if claim.rule == "equivalence" and claim.margin is None:
        return "a claim of no difference needs a `margin`"
    if claim.rule == "sign" and claim.sign not in ("negative", "positive") and not claim.numbers:
        return "a claim of a sign needs `sign` or `numbers`"
    if claim.rule == "bound" and (claim.number is None or claim.sign not in ("above", "below")):
        return "a claim of a bound needs `number`, and `sign = above` or `below`"
    if claim.rule == "order" and len(claim.terms) < 2:
        return "a claim of an order needs two `terms` or more"
    if claim.estimator == "quantile_ms" and claim.percent is None:
        return "a quantile needs `percent`"
    if claim.estimator == "share_faster_by" and claim.least_ms is None:
        return "`share_faster_by` needs `least_ms`"
    if claim.is_of_study and (
        wrong := [each for each in claim.metrics if each not in METRICS_BY_NAME]
    ):
        return unknown("metric", wrong[0], METRICS_BY_NAME)
    if claim.scope == "data" and not claim.data:
        return "a claim about data sets names them in `data`"
    names = [*claim.comparisons, *(each.comparison for each in claim.terms if each.comparison)]
    is_pair = claim.estimator != "median_dns_ms"
    if is_pair and (wrong := [name for name in names if name.count("/") != 1]):
        return f"`{wrong[0]}` is no comparison; write STACK/REFERENCE"
    is_compared = claim.estimator != "row_count" and claim.rule != "order"
    if is_compared and not claim.comparisons:
        return "it names no `comparisons`"
    return ""
