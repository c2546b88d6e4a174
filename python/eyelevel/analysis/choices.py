"""Choose the comparisons of a run: those of its plan, or others, chosen post hoc.

The sites of a report and the metric of its figures can be chosen here, too.
"""

from collections.abc import Sequence

from eyelevel.analysis.metrics.catalogue import PRIMARY_METRICS
from eyelevel.base.errors import PlanError, unknown
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison, against_one

Comparisons = tuple[Comparison, ...]


def read_comparisons(plan: JsonMapping) -> Comparisons:
    """Return the comparisons of a `plan.json`."""
    return tuple(Comparison.read(asked) for asked in plan["comparisons"])


def post_hoc_comparisons(
    plan: JsonObject, reference: str | None, pairs: Sequence[str] = ()
) -> tuple[JsonObject, Comparisons]:
    """Return the plan with other comparisons, and the plan's own if these differ from them.

    `reference`: compare every other stack with this one; `pairs`: STACK/REFERENCE each, in order.

    Raises PlanError for an unknown stack, and for a study that may stop early: its own comparisons
    decided when it stopped, so that the loads of any other are a biased selection.
    """
    if reference is None and not pairs:
        return plan, ()
    option = "--against" if reference else "--compare"
    twins = (plan.get("causes") or {}).get("stacks", {}).values()
    hidden = {name for of_stack in twins for name in of_stack.values()}
    stacks = [stack["name"] for stack in plan["stacks"] if stack["name"] not in hidden]
    # Names of variants' stacks have a slash of their own.
    slashes = 3 if plan.get("variants") else 1
    if any(pair.count("/") != slashes for pair in pairs):
        raise PlanError(
            [f"--compare: `{', '.join(pairs)}`: write STACK/REFERENCE, such as quic/tcp+"]
        )
    split = [_halves(pair) for pair in pairs]
    named = [name for pair in split for name in pair] + [reference or stacks[0]]
    for name in named:
        if name not in stacks:
            raise PlanError([f"{option}: {unknown('stack', name, stacks)}"])
    if plan.get("stop"):
        raise PlanError(
            [
                (
                    f"{option}: the study may stop early, based on the comparisons that its plan "
                    "declares; leave it out"
                )
            ]
        )
    chosen = tuple(dict.fromkeys(Comparison(*pair) for pair in split))
    if same := [each.stack for each in chosen if each.stack == each.reference]:
        raise PlanError(
            [f"--compare: `{same[0]}` is compared with itself; name two different stacks"]
        )
    asked = chosen or against_one(named[-1], stacks)
    declared = read_comparisons(plan)
    stated = [each.stated() for each in asked]
    return {**plan, "comparisons": stated}, () if asked == declared else declared


def _halves(pair: str) -> tuple[str, str]:
    """Split a pair at its middle slash."""
    parts = pair.split("/")
    middle = len(parts) // 2
    return "/".join(parts[:middle]), "/".join(parts[middle:])


def check_figure_metric(metric: str) -> None:
    """Raise PlanError for a metric that figures cannot draw; an empty name stands for no choice."""
    if metric and metric not in PRIMARY_METRICS:
        raise PlanError([f"--metric: {unknown('time', metric, PRIMARY_METRICS)}"])


def restrict_to_sites(plan: JsonObject, sites: Sequence[str]) -> JsonObject:
    """Return the plan with these sites alone, in its own order.

    Raises PlanError for an unknown site, and for a study that may stop early: all of its sites
    together decided when it stopped.
    """
    known = [site["name"] for site in plan["sites"]]
    for name in sites:
        if name not in known:
            raise PlanError([f"--site: {unknown('site', name, known)}"])
    if plan.get("stop"):
        raise PlanError(
            ["--site: the study may stop early, based on what all of its sites show; leave it out"]
        )
    return {
        **plan,
        "sites": [site for site in plan["sites"] if site["name"] in sites],
        "trials": [trial for trial in plan["trials"] if trial["site"] in sites],
    }
