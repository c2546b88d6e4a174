"""Counterfactuals: copies of each stack and network with one cause of slowness removed.

A plan's `causes` adds, for every stack, twins without one cause each and one without all of them,
and for every network with random loss its lossless twin. They run in the same blocks, so that the
contribution of a cause to a difference is itself a paired difference
(`eyelevel.analysis.stats.decomposition`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from eyelevel.base.settings import LISTED, Settings
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack

Cause = Literal["handshake", "window", "think_time", "loss"]

ALL = "all"
WINDOW_PACKETS = 10_000
"""An initial window that no page here fills: 14 MB in the first round trip."""

SUFFIXES: Mapping[str, str] = {
    "handshake": "+warm",
    "window": "+wide",
    "think_time": "+nothink",
    ALL: "+ideal",
}
LOSSLESS = "+lossless"

MEANINGS: Mapping[str, str] = {
    "handshake": "a second visit over connections that are still open; their windows have grown",
    "window": f"an initial window of {WINDOW_PACKETS:,} packets",
    "think_time": "servers answer at once",
    "loss": "no packet is lost at random",
}


@dataclass(frozen=True)
class Causes(Settings):
    """Names of the counterfactual twins: by stack and cause or ALL, and by network."""

    names: Annotated[tuple[str, ...], LISTED]
    stacks: Mapping[str, Mapping[str, str]]
    networks: Mapping[str, str]


def with_causes(
    stacks: Sequence[Stack], networks: Sequence[Network], names: Sequence[str]
) -> tuple[tuple[Stack, ...], tuple[Network, ...], Causes]:
    """Return all stacks and networks of a plan with `causes`, and the twins' names.

    Raises `ValueError` if a twin's name is taken, or if a network's loss is part of its stages.
    """
    of_stacks = [name for name in dict.fromkeys(names) if name != "loss"]
    if "think_time" in of_stacks and all(stack.think_time == "none" for stack in stacks):
        raise ValueError("no stack has a think time to take away; drop `think_time`")
    all_stacks = list(stacks)
    twins: dict[str, dict[str, str]] = {}
    for stack in stacks:
        twins[stack.name] = {}
        together = stack
        for cause in of_stacks:
            all_stacks.append(_remove_cause(stack, stack, cause, SUFFIXES[cause]))
            twins[stack.name][cause] = all_stacks[-1].name
            together = _remove_cause(together, stack, cause, SUFFIXES[ALL])
        if len(of_stacks) > 1:
            all_stacks.append(together)
        if of_stacks:
            twins[stack.name][ALL] = all_stacks[-1].name
    all_networks = list(networks)
    lossless: dict[str, str] = {}
    for network in networks if "loss" in names else ():
        if network.is_staged:
            raise ValueError(f"`{network.name}` spells its stages out; give its loss by keys")
        if network.loss_down or network.loss_up:
            name = network.name + LOSSLESS
            all_networks.append(replace(network, name=name, loss_down=0.0, loss_up=0.0))
            lossless[network.name] = name
    for members in (all_stacks, all_networks):
        taken = [one.name for one in members]
        if twice := next((name for name in taken if taken.count(name) > 1), ""):
            raise ValueError(f"`{twice}` is the name of a counterfactual; rename yours")
    return tuple(all_stacks), tuple(all_networks), Causes(tuple(names), twins, lossless)


def _remove_cause(stack: Stack, of: Stack, cause: str, suffix: str) -> Stack:
    name = of.name + suffix
    if cause == "handshake":
        return replace(stack, name=name, visit="warm")
    if cause == "window":
        return replace(stack, name=name, initial_window_packets=WINDOW_PACKETS)
    return replace(stack, name=name, think_time="none")
