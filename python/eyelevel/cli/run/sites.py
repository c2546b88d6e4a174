"""Open a plan's sites, with a status if that takes time: synthetic ones are generated."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from eyelevel.cli.output import hints
from eyelevel.plan.plan import Plan
from eyelevel.sites.recorded import RecordedSite, open_site

TOLD_MIN = 20
"""Minimum number of sites for which a status is shown."""
AT_ONCE = 4
"""Sites opened in parallel; each is a process of the data plane that reads or writes a file."""


def open_pages(plan: Plan) -> list[RecordedSite]:
    """Return a plan's sites, each with the recordings that variants have in its place."""
    sites = open_sites(plan.sites)
    own = [(each.name, open_sites(each.recordings)) for each in plan.variants if each.recordings]
    return [
        replace(site, variants={name: opened[place] for name, opened in own})
        for place, site in enumerate(sites)
    ]


def open_sites(names: Sequence[str]) -> list[RecordedSite]:
    """Open the sites in parallel.

    Returns them in order, and raises the error of the first that fails.
    """
    if len(names) < TOLD_MIN:
        return [open_site(name) for name in names]
    said = f"opening {len(names)} sites"
    opened: list[RecordedSite] = []
    with hints.waiting(said) as status, ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for site in pool.map(open_site, names):
                opened.append(site)
                status.update(f"{said}: {len(opened)} done")
        finally:
            pool.shutdown(cancel_futures=True)
    return opened
