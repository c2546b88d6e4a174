"""Describe unusual conditions of the loads: a clause for the methods."""

from collections.abc import Mapping

from eyelevel.analysis.formats import format_percent
from eyelevel.plan.browser import CACHE_AGE_S
from eyelevel.plan.in_force import browser_for, with_browser
from eyelevel.plan.plan import SMALLEST_EFFECT, SMALLEST_EFFECT_OF_VARIANTS, Plan
from eyelevel.plan.stacks import Stack

_VISITS: Mapping[str, str] = {
    "repeat": (
        "on a repeat visit (a second load with the first load's TLS tickets, but without its "
        "connections, HTTP cache, cookies and storage)"
    ),
    "cached": (
        "on a cached visit (a second load with the first load's HTTP cache, aged by {age} and "
        "without its connections, TLS tickets, cookies and storage)"
    ),
    "warm": (
        "on a warm visit (a second load over the connections that the first load left open, "
        "but without its HTTP cache, cookies and storage)"
    ),
}

_VISITORS: Mapping[str, str] = {
    "known": "with a browser that already knew which protocols every host supports"
}
_TYPES: Mapping[str, str] = {
    "measured": "with Chromium's own estimate of the network, which differs from stack to stack",
    **{
        name: f"with the browser told that the network is {name}"
        for name in ("slow-2g", "2g", "3g", "4g")
    },
}


def format_age(age_s: int) -> str:
    """Return an age in its largest whole unit, such as `90 min`."""
    units = (("d", 86_400), ("h", 3600), ("min", 60))
    found = ((name, size) for name, size in units if age_s and age_s % size == 0)
    name, size = next(found, ("s", 1))
    return f"{age_s // size} {name}"


def list_planned_stacks(plan: Plan) -> list[Stack]:
    """Return the plan's stacks with their browser settings, which are their own or the plan's."""
    return [
        with_browser(stack, browser_for(plan.browser_of(stack.name), stack))
        for stack in plan.stacks
    ]


def describe_smallest_effect(plan: Plan) -> str:
    """Return the plan's smallest effect of interest with its reason, if it has one."""
    effect, least_ms = plan.smallest_effect_of_interest, plan.smallest_effect_of_interest_ms
    share = describe_margin(plan)
    if plan.smallest_effect_reason:
        return f"{share} (reason: {plan.smallest_effect_reason})"
    if effect == SMALLEST_EFFECT or (effect, least_ms) == SMALLEST_EFFECT_OF_VARIANTS:
        return f"{share} (the default: the plan gives no smallest effect of its own)"
    return f"{share} (the plan gives no reason)"


def describe_margin(plan: Plan) -> str:
    """Return the plan's smallest effect of interest, as a share and in ms if it has both."""
    share = format_percent(plan.smallest_effect_of_interest, signed=False)
    if plan.smallest_effect_of_interest_ms is None:
        return share
    return f"{share} or {plan.smallest_effect_of_interest_ms:g} ms, whichever is more"


def describe_conditions(plan: Plan) -> str:
    """Return the unusual conditions of the loads as one clause; empty if there are none."""
    browser = plan.browser
    age_s = CACHE_AGE_S if browser.cache_age_s is None else browser.cache_age_s
    visits = {kind: clause.format(age=format_age(age_s)) for kind, clause in _VISITS.items()}
    clauses = _describe_values(
        {stack.name: stack.visit for stack in list_planned_stacks(plan)}, visits
    )
    clauses += _describe_values(
        {stack.name: stack.visitor or browser.visitor for stack in plan.stacks}, _VISITORS
    )
    in_chromium = {stack.name: plan.browser_of(stack.name).is_chromium for stack in plan.stacks}
    connection_types = {
        stack.name: stack.effective_connection_type if in_chromium[stack.name] else None
        for stack in list_planned_stacks(plan)
    }
    clauses += _describe_values(connection_types, _TYPES)
    film = (
        ", its pictures taken from a film of the screen at 30 frames a second"
        if browser.capture
        else ""
    )
    in_firefox = {name: None if chromium else "firefox" for name, chromium in in_chromium.items()}
    clauses += _describe_values(in_firefox, {"firefox": f"in Firefox{film}"})
    if device := browser.device:
        width, height = device.viewport_px
        touch = ", touch" if device.mobile else ""
        clauses.append(f"emulating {device.name} ({width} x {height} CSS pixels{touch})")
    if browser.slowdown != 1:
        clauses.append(f"with scripts slowed down {browser.slowdown:g}-fold")
    if browser.color_scheme != "light":
        clauses.append(f"with the {browser.color_scheme} color scheme")
    if not browser.javascript:
        clauses.append("without JavaScript")
    if browser.blocked_hosts:
        clauses.append(f"with requests to {', '.join(browser.blocked_hosts)} blocked")
    if browser.longest_prefix:
        clauses.append(
            "with the longest common prefix as the answer where nothing better was recorded"
        )
    if not browser.capture:
        clauses.append("without taking pictures")
    if browser.after_load:
        clauses.append(f"followed by {'; '.join(browser.after_load)}")
    if browser.chromium_flags:
        clauses.append(f"with {' '.join(browser.chromium_flags)}")
    clauses += [
        f"{variant.name} with its own {variant.browser.words()}"
        for variant in plan.variants
        if variant.browser
    ]
    return ", ".join(clauses)


def _describe_values(by_stack: Mapping[str, str | None], meanings: Mapping[str, str]) -> list[str]:
    """Return one clause per unusual setting; it names the stacks unless all of them have it."""
    clauses = []
    for kind, clause in meanings.items():
        names = [name for name, setting in by_stack.items() if setting == kind]
        if len(names) == len(by_stack):
            clauses.append(clause)
        elif names:
            clauses.append(f"{', '.join(names)} {clause}")
    return clauses
