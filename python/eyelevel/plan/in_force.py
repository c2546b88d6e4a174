"""Compute the settings of stack and browser that are in force on one network."""

from dataclasses import replace

from eyelevel.base.json_types import JsonObject
from eyelevel.base.settings import about
from eyelevel.plan.browser import CACHE_AGE_S, Browser
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import (
    BLOCKED_STREAMS_MAX,
    HEADER_TABLE_BYTES,
    KERNEL_CONGESTION_CONTROLS,
    UNSENT_BYTES_MAX,
    UNSENT_RATE_BIT_S_MAX,
    ConnectionTypeSetting,
    Stack,
    Visit,
    connection_type,
)

OF_BROWSER = tuple(name for name in about(Stack) if name in about(Browser))
"""Settings of the browser that a stack may override."""
_OF_SERVERS = tuple(name for name, each in about(Stack).items() if each.servers)


def stack_in_force(stack: Stack, network: Network) -> Stack:
    """Return the stack with its servers' settings in force on this network.

    A value is None if an external server decides it, or if the protocol does not have it.
    """
    if not stack.is_ours:
        return stack
    unsent, tables, blocked = (
        stack.unsent_bytes_max,
        stack.header_table_bytes,
        stack.blocked_streams_max,
    )
    # A rate of 0 means a direction without a link.
    slow = 0 < network.rate_down_bit_s <= UNSENT_RATE_BIT_S_MAX
    if stack.schedules_responses:
        unsent = UNSENT_BYTES_MAX if unsent is None and slow else unsent
        tables = HEADER_TABLE_BYTES if tables is None else tables
    if stack.over_quic:
        blocked = BLOCKED_STREAMS_MAX if blocked is None else blocked
    return replace(
        stack,
        unsent_bytes_max=unsent,
        header_table_bytes=tables,
        blocked_streams_max=blocked,
        alt_svc=stack.alt_svc is not False if stack.over_quic else None,
    )


def browser_for(browser: Browser, stack: Stack) -> Browser:
    """Return the browser's settings for loads of this stack, on any network."""
    visit = stack.visit or browser.visit
    # A repeated visit implies a known visitor.
    known = visit != "first" or (stack.visitor or browser.visitor) == "known"
    wanted = stack.effective_connection_type or browser.effective_connection_type
    return replace(
        browser,
        visit=visit,
        visitor="known" if known else "first",
        cache_age_s=_cache_age_s(browser, visit),
        # Firefox has no such setting.
        effective_connection_type=wanted if browser.is_chromium else "measured",
    )


def _cache_age_s(browser: Browser, visit: Visit) -> int | None:
    """Return the age of the cache in force; None for a visit without one."""
    if visit != "cached":
        return None
    return CACHE_AGE_S if browser.cache_age_s is None else browser.cache_age_s


def taking_network_for(wanted: ConnectionTypeSetting, browser: Browser, stack: Stack) -> Stack:
    """Return the stack with the connection type `wanted`, if it would depend on the network.

    It is for networks whose own round-trip time is unknown.
    """
    connection_type = stack.effective_connection_type or browser.effective_connection_type
    return (
        replace(stack, effective_connection_type=wanted) if connection_type == "network" else stack
    )


def browser_in_force(browser: Browser, stack: Stack, network: Network, limit_s: float) -> Browser:
    """Return the browser settings in force on this network, with this time limit."""
    settings = browser_for(browser, stack)
    return replace(
        settings,
        timeout_s=limit_s,
        cpu_slowdown=browser.slowdown,
        effective_connection_type=connection_type(
            settings.effective_connection_type, network.rtt_ms_min
        ),
    )


def with_browser(stack: Stack, browser: Browser) -> Stack:
    """Return the stack with the browser settings that its loads use."""
    return replace(stack, **{name: getattr(browser, name) for name in OF_BROWSER})


def lab_stack(stack: Stack, network: Network) -> JsonObject:
    """Return the lab's `stack` object (spec/lab-events.md) on this network."""
    return stack_message(stack_in_force(stack, network))


def stack_message(stack: Stack) -> JsonObject:
    """Return the settings of a stack in force that its servers need."""
    stated = stack.stated()
    message = {key: stated[key] for key in _OF_SERVERS if stated[key] is not None}
    return {"name": stack.name, **message}


def tcp_controller(congestion_control: str) -> str:
    """Return the TCP controller for a stack with this congestion control.

    Even over QUIC, recorded http origins and the browser's own traffic use TCP.
    """
    return congestion_control if congestion_control in KERNEL_CONGESTION_CONTROLS else "cubic"
