"""The trials of live loads: one browser, one page, and nothing emulated."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import taking_network_for
from eyelevel.plan.networks.network import Network
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stacks import ConnectionTypeSetting, Stack
from eyelevel.plan.trials import Site, Trial, expand
from eyelevel.store.hashing import content_hash

LIVE = Network("live", 0, 0, 0.0, 0.0, stages_down=(), stages_up=())
"""A network without any stage: only the real path lies between browser and servers."""


def live_site(url: str, beside: Site | None = None) -> Site:
    """Return a page as a trial's site, with its URL instead of a recording.

    Its name is the URL's host, or that of `beside`: the recording whose replays alternate with it.
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
    """Return `runs` live loads of the site, with the stack's browser settings.

    `by_network`: the connection type for stacks that take it from the network, as the round trip of
    a live network is unknown.
    """
    connection_type = taking_network_for(by_network, settings, stack)
    return expand(one_cell(site.name, [LIVE], connection_type, runs, seed, settings), [site])
