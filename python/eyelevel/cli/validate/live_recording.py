"""Find or make the recording that a live study replays, which must be of the study's page."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from eyelevel.base.errors import PlanError
from eyelevel.base.from_outside.host_names import spell_in_dns
from eyelevel.cli.site.record import record_page
from eyelevel.plan.networks.origin_rtt import hosts_without_rtt
from eyelevel.sites.corpora.recorded_page import find_error_answer
from eyelevel.sites.recorded import RecordedSite, open_site, site_info
from eyelevel.store.disk.results import make_folder
from eyelevel.store.disk.whole import folder_beside

RECORDING = "recording.wacz"
_PORTS = {"http": 80, "https": 443}


def recording_of(
    url: str,
    against: str | None = None,
    out: Path = Path(),
    upstream_ca: Path | None = None,
    allow: Sequence[str] = (),
) -> RecordedSite:
    """Return the recording `against`, else the one in `out`, which is made if it is missing.

    Raises `PlanError` if it is of another page, whose times would be reported as this one's, or of
    an error page.
    """
    file = out / RECORDING
    if against is None and not file.exists():
        make_folder(out)
        try:
            _record(url, file, upstream_ca, allow)
        except BaseException:
            with contextlib.suppress(OSError):  # unless it has loads
                out.rmdir()
            raise
    recording = open_site(against or str(file))
    main_url = site_info(recording.path)["main_url"]
    if main_url is None:
        raise PlanError(
            [
                f"{recording.path} names no page, so it may be of a page other than {url}; "
                "leave out --against"
            ]
        )
    if not is_same_page(main_url, url):
        mend = "give another --out" if against is None else "validate that page, or record this one"
        raise PlanError([f"{recording.path} is of {main_url}, not of {url}; {mend}"])
    if failed := find_error_answer(recording.path):
        raise PlanError([f"{recording.path}: {failed} when it was recorded; record it again"])
    return recording


def _record(url: str, file: Path, upstream_ca: Path | None, allow: Sequence[str]) -> None:
    with folder_beside(file) as draft:
        made = draft / file.name
        record_page(url, made, upstream_ca, allow)
        if failed := find_error_answer(made):
            raise PlanError([f"recording {url}: {failed}, so it is not kept; try again later"])
        made.chmod(0o644)
        made.rename(file)


def check_recorded_rtts(recording: RecordedSite) -> None:
    """Raise `PlanError` if a replay cannot have the round trips of the recorded handshakes."""
    hosts = hosts_without_rtt(recording.of_plan().places)
    if hosts:
        more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
        raise PlanError(
            [
                f"{recording.path} has no recorded round trip for {hosts[0]}{more}: give "
                "--no-recorded-rtt with a --network or --rtt that matches the page's, or use a "
                "recording made by `eyelevel record`"
            ]
        )


def is_same_page(one: str, other: str) -> bool:
    """Return whether two URLs are of one page, in any spelling; fragments are ignored."""
    try:
        return _parts(one) == _parts(other)
    except ValueError:  # an invalid port
        return False


def _parts(url: str) -> tuple[str, str, int | None, str, str]:
    parts = urlsplit(url)
    host = spell_in_dns(parts.hostname or "")
    path, query = (quote(text, safe="%/") for text in (parts.path or "/", parts.query))
    return parts.scheme, host, parts.port or _PORTS.get(parts.scheme), path, query
