"""Networks: one table of presets, and how a network becomes the lab's path; pure."""

from eyelevel.networks.errors import NetworkError
from eyelevel.networks.network import Network, lab_path, loss_of_each_direction
from eyelevel.networks.presets import GROUPS, NETWORKS, NETWORKS_BY_NAME, NetworkGroup, find_network

__all__ = [
    "GROUPS",
    "NETWORKS",
    "NETWORKS_BY_NAME",
    "Network",
    "NetworkError",
    "NetworkGroup",
    "find_network",
    "lab_path",
    "loss_of_each_direction",
]
