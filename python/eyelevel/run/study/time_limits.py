"""Check that the loads of every cell of a plan can end within their limit."""

from collections.abc import Sequence

from eyelevel.base.errors import PlanError
from eyelevel.plan.browser import Browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.time_limit import LIMIT_S_MIN, Weight, tight_cells
from eyelevel.plan.trials import Trial
from eyelevel.sites.recorded import RecordedSite

NAMED_MAX = 3
"""The number of slowest cells in a message; a plan may have hundreds."""
AROUND_A_LOAD_S = 300.0
"""The limit for starting and ending browser and lab, and for collecting and encoding results."""
VISITS_MAX = 2
"""The most visits of a trial: the measured one, and the earlier one that it repeats."""
STEP_S = 60.0
"""The limit for a step after the load, including its waits."""


def check_time_limits(plan: Plan, sites: Sequence[RecordedSite]) -> None:
    """Raise PlanError if the plan's own `timeout_s` is shorter than a page's bytes need.

    Without `timeout_s` the limit is computed from the bytes.
    """
    limit_s = plan.browser.timeout_s
    if limit_s is None:
        return
    weights = [
        Weight(site.name, max(each.body_bytes() for each in site.recordings())) for site in sites
    ]
    tight = tight_cells(limit_s, weights, plan.networks)
    if not tight:
        return
    named = "; ".join(
        f"`{cell.site}` over `{cell.network}` {cell.needed_s:.0f} s" for cell in tight[:NAMED_MAX]
    )
    more = f"; and {len(tight) - NAMED_MAX} more" if len(tight) > NAMED_MAX else ""
    raise PlanError(
        [
            f"`timeout_s`: in {limit_s:g} s no load can end if the page's bytes alone need "
            f"longer ({named}{more}); leave out the key, so that the limit follows from the "
            "bytes, or leave these out"
        ]
    )


def describe_limits(plan: Plan, sites: Sequence[RecordedSite]) -> str:
    """Return the time limits of the plan's loads, in words."""
    limits = {
        (site.name, network.name): plan.browser.limit_of(site.body_bytes(), network)
        for site in sites
        for network in plan.networks
    }
    longest = max(limits, key=lambda cell: limits[cell])
    if plan.browser.timeout_s is not None:
        return f"a load that takes longer than {plan.browser.timeout_s:g} s ends as `timeout`"
    if limits[longest] <= LIMIT_S_MIN:
        return f"a load that takes longer than {LIMIT_S_MIN:g} s ends as `timeout`"
    over = sum(limit_s > LIMIT_S_MIN for limit_s in limits.values())
    return (
        f"a load that takes longer than {LIMIT_S_MIN:g} s ends as `timeout`; in {over} of "
        f"{len(limits)} cells the bytes need more time, at most {limits[longest]:g} s "
        f"(`{longest[0]}` over `{longest[1]}`)"
    )


def block_limit_s(trials: Sequence[Trial], retries: int, host_wait_s: float) -> float:
    """Return the sum of a block's own limits, in s; a slot that takes longer hangs."""
    return sum(
        (1 + retries) * (host_wait_s + _limit_s(trial.browser, trial.network_settings.settling_s))
        for trial in trials
    )


def _limit_s(browser: Browser, settling_s: float) -> float:
    load_s = VISITS_MAX * (browser.timeout_s or LIMIT_S_MIN)
    return settling_s + load_s + STEP_S * len(browser.steps) + AROUND_A_LOAD_S
