"""Additional round trips of a plan's origins, resolved per site and stack."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from eyelevel.base.errors import NetworkError, PlanError, unknown
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.origin_rtt import OTHERS, OriginRtts, Place, own_rtts_ms
from eyelevel.plan.stacks import Stack

Own = Mapping[str, float]
"""Round trips in milliseconds by host."""


def with_plans(stacks: Sequence[Stack], rtts: OriginRtts | None) -> tuple[Stack, ...]:
    """Return the stacks with the plan's origin round trips, unless they set their own."""
    if rtts is None:
        return tuple(stacks)
    return tuple(replace(each, origin_rtt={**rtts, **(each.origin_rtt or {})}) for each in stacks)


def apart_by_ways_alone(one: Stack, two: Stack) -> bool:
    """Return whether two stacks differ only in their origins' round trips.

    Then nothing else needs to be measured between them.
    """
    is_one = replace(one, name=two.name, origin_rtt=two.origin_rtt) == two
    return is_one and one.origin_rtt != two.origin_rtt


def have_ways(*stacks: Stack) -> bool:
    """Return whether any of the stacks has origin round trips, its own or the plan's."""
    return any(stack.origin_rtt for stack in stacks)


@dataclass(frozen=True)
class OwnRtts:
    """The origins' additional round trips by site and stack, for stacks that have some."""

    by_cell: Mapping[tuple[str, str], Own]

    @classmethod
    def of(
        cls,
        stacks: Sequence[Stack],
        places_by_site: Mapping[str, Sequence[Place]],
        known: Collection[str] = (),
    ) -> "OwnRtts":
        """Return the round trips that the stacks set on these sites; `known` are hosts of others.

        Raises `PlanError` with a line per mistake: a host that no site has, and the errors of
        `own_rtts_ms`.
        """
        hosts = {*known, *(place.host for each in places_by_site.values() for place in each)}
        problems: dict[str, None] = {}
        by_cell = {}
        for stack in stacks:
            if stack.origin_rtt is None:
                continue
            for host in sorted(stack.origin_rtt.keys() - hosts - {OTHERS}):
                problems[f"`origin_rtt`: {unknown('host', host, sorted(hosts))}"] = None
            for site, places in places_by_site.items():
                try:
                    by_cell[site, stack.name] = own_rtts_ms(stack.origin_rtt, places, site)
                except NetworkError as error:
                    problems[f"`origin_rtt`: {error}"] = None
        if problems:
            raise PlanError(list(problems))
        return cls(by_cell)

    def stack(self, stack: Stack, site: str) -> Stack:
        """Return the stack with the round trips in force on the site."""
        if stack.origin_rtt is None:
            return stack
        return replace(stack, origin_rtt=self.by_cell[site, stack.name])

    def farthest(self, network: Network, site: str) -> Network:
        """Return the network as seen by the farthest origin of the site over all stacks.

        A block's loads share one time limit.
        """
        own = (rtt for (of, _), each in self.by_cell.items() if of == site for rtt in each.values())
        return network.farther(max(own, default=0.0))
