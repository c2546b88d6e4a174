"""Cross traffic in a plan: of one network, or of the whole plan as a twin of each network."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from eyelevel.base.errors import NetworkError
from eyelevel.plan.file.model import NetworkKeys
from eyelevel.plan.networks.cross_traffic import CrossTraffic, check_flows
from eyelevel.plan.networks.network import Network

TWIN_SUFFIX = "+cross"
BESIDE_THE_PATH = ("name", "weight", "cross_traffic")
"""Keys of a network's table that do not describe its path."""


def check_cross_traffic(
    kinds: tuple[CrossTraffic, ...] | None,
) -> tuple[CrossTraffic, ...] | None:
    """Return the cross traffic, None if it is empty; raises `ValueError` for too many flows."""
    try:
        check_flows(kinds or ())
    except NetworkError as error:
        raise ValueError(str(error)) from error
    return kinds or None


def with_twins(
    networks: Sequence[Network],
    tables: Sequence[NetworkKeys],
    weights: Mapping[str, float],
    cross_traffic: tuple[CrossTraffic, ...] | None,
) -> tuple[tuple[Network, ...], dict[str, float]]:
    """Return each network without cross traffic of its own, followed by a twin with the plan's.

    A twin has its network's weight. Raises `ValueError` if a twin's name is taken.
    """
    if cross_traffic is None:
        return tuple(networks), dict(weights)
    names = {network.name for network in networks}
    twins: list[Network] = []
    shares = dict(weights)
    for network, table in zip(networks, tables, strict=True):
        twins.append(network)
        if "cross_traffic" in table.given():
            continue
        name = network.name + TWIN_SUFFIX
        if name in names:
            raise ValueError(f"`{name}` is the twin of `{network.name}`; rename your network")
        twins.append(replace(network, name=name, cross_traffic=cross_traffic))
        if network.name in shares:
            shares[name] = shares[network.name]
    return tuple(twins), shares
