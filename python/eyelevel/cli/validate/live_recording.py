"""The recording that a live study replays: made once, or given; of the study's page alone."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

from eyelevel.cli.site.record import record_page
from eyelevel.errors import PlanError
from eyelevel.sites.recorded import RecordedSite, open_site, site_info

RECORDING = "recording.wacz"
_PORTS = {"http": 80, "https": 443}


def recording_of(
    url: str,
    against: str | None = None,
    out: Path = Path(),
    upstream_ca: Path | None = None,
    allow: Sequence[str] = (),
) -> RecordedSite:
    """The recording `against`, else the one in `out`, which is made if it is missing.

    Raises PlanError where it is of another page: what one page takes would be told as another's.
    """
    file = out / RECORDING
    if against is None and not file.exists():
        try:
            record_page(url, file, upstream_ca, allow)
        except BaseException:
            with contextlib.suppress(OSError):  # if it has loads it stays
                out.rmdir()
            raise
    recording = open_site(against or str(file))
    main_url = site_info(recording.path)["main_url"]
    if main_url is None:
        raise PlanError([f"{recording.path} names no page, which may be another than {url}"])
    if not is_same_page(main_url, url):
        mend = "give another --out" if against is None else "validate that page, or record this one"
        raise PlanError([f"{recording.path} is of {main_url}, not of {url}; {mend}"])
    return recording


def is_same_page(one: str, other: str) -> bool:
    """Whether two URLs are one page's, in whatever spelling; fragments are the browser's own."""
    try:
        return _parts(one) == _parts(other)
    except ValueError:  # a port that is none
        return False


def _parts(url: str) -> tuple[str, str, int | None, str, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode()
    path, query = (quote(text, safe="%/") for text in (parts.path or "/", parts.query))
    return parts.scheme, host, parts.port or _PORTS.get(parts.scheme), path, query
