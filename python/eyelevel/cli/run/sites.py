"""Open a plan's sites, with a status while that takes time: synthetic ones are generated."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from eyelevel.cli.output import hints
from eyelevel.sites.recorded import RecordedSite, open_site

TOLD_MIN = 20
"""Sites; fewer are opened before anybody wonders."""
AT_ONCE = 4
"""Each is a process of the data plane that reads a file, or writes one."""


def open_sites(names: Sequence[str]) -> list[RecordedSite]:
    """Return each by `open_site`, in the order of the names; raises as it does, for the first of
    them."""
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
