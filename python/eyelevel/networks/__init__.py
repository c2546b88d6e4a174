"""Networks: one table of presets, and how a network becomes the lab's path; pure."""

from eyelevel.networks.cross_traffic import (
    CrossTraffic,
    check_flows,
    parse_all_cross_traffic,
    parse_cross_traffic,
    settling_s,
)
from eyelevel.networks.errors import NetworkError
from eyelevel.networks.network import Network, lab_path, loss_of_each_direction
from eyelevel.networks.presets import GROUPS, NETWORKS, NETWORKS_BY_NAME, NetworkGroup, find_network

__all__ = [
    "GROUPS",
    "NETWORKS",
    "NETWORKS_BY_NAME",
    "CrossTraffic",
    "Network",
    "NetworkError",
    "NetworkGroup",
    "check_flows",
    "find_network",
    "lab_path",
    "loss_of_each_direction",
    "parse_all_cross_traffic",
    "parse_cross_traffic",
    "settling_s",
]
