"""Networks: one table of presets, and how a network becomes the lab's path; pure."""

from eyelevel.networks.network import Network, lab_path, loss_of_each_direction
from eyelevel.networks.presets import GROUPS, NETWORKS, NETWORKS_BY_NAME, NetworkGroup

__all__ = [
    "GROUPS",
    "NETWORKS",
    "NETWORKS_BY_NAME",
    "Network",
    "NetworkGroup",
    "lab_path",
    "loss_of_each_direction",
]
