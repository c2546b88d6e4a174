"""The trials of live loads: one browser, one page, and nothing emulated."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from eyelevel.networks.network import Network
from eyelevel.plan.browser import Browser
from eyelevel.plan.connection_type import ConnectionTypeSetting
from eyelevel.plan.in_force import taking_network_for
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import Site, Trial, expand
from eyelevel.store.hashing import content_hash

LIVE = Network("live", 0, 0, 0.0, 0.0, stages_down=(), stages_up=())
"""No stage in either direction: whatever is between browser and servers is there by itself."""


def live_site(url: str, beside: Site | None = None) -> Site:
    """Return a page as a trial's site: its host's name, and its URL in the place of a recording.

    `beside`: the recording with whose replays it is loaded in turns, whose name and size it has.
    """
    if beside is None:
        return Site(urlsplit(url).hostname or url, content_hash({"url": url}))
    return replace(beside, digest=content_hash({"url": url, "recording": beside.digest}))


def live_trials(
    site: Site,
    stack: Stack,
    runs: int,
    seed: int,
    settings: Browser,
    by_network: ConnectionTypeSetting = "measured",
) -> Sequence[Trial]:
    """`runs` live loads of the site by a browser that speaks what the stack speaks.

    `by_network`: what it takes the network for, where that is to follow from the network, whose
    round trip nobody knows.
    """
    told = taking_network_for(by_network, settings, stack)
    return expand(one_cell(site.name, [LIVE], told, runs, seed, settings), [site])
