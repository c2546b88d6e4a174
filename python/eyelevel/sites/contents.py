"""List the exchanges of a recording.

Detect recordings of http pages, on which no stack with TLS would be in force. Compute how much of a
recording its loads use: little use means that another page is replayed.
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import PlanError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.plan.stacks import Stack
from eyelevel.sites.recorded import RecordedSite, site_info
from eyelevel.store.disk import temporary_folder

_BINARY = ("image/", "font/", "video/", "audio/")
_ESCAPED = (("\\/", "/"), ("&amp;", "&"), ("\\u0026", "&"))

Texts = Mapping[str, str]
"""Recorded texts by URL, decoded."""


@dataclass(frozen=True)
class RecordedObject:
    """One recorded exchange."""

    method: str
    url: str
    body_bytes: int
    """Bytes of the response body, as sent."""


@dataclass(frozen=True)
class Contents:
    """The content of a recording."""

    objects: tuple[RecordedObject, ...]
    """Objects in recorded order; a server's `exchange` is an index of this."""
    texts: Texts
    """Recorded texts, with escaped slashes and ampersands unescaped."""


def bodies_of(archive: Path) -> list[JsonMapping]:
    """Return each recorded exchange's HAR `content`, in recorded order.

    Raises `LabError` for a damaged or missing file.
    """
    return [entry["response"]["content"] for entry in _entries(archive)]


def _entries(archive: Path) -> list[JsonObject]:
    with temporary_folder("contents") as folder:
        har = folder / "site.har"
        run_tool(["archive", "export", str(archive), "--har", str(har)])
        entries: list[JsonObject] = json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]
    return entries


def contents_of(archive: Path) -> Contents:
    """Read a recording; raises `LabError` for a damaged or missing file."""
    objects = []
    texts: dict[str, str] = {}
    for entry in _entries(archive):
        request, response = entry["request"], entry["response"]
        objects.append(RecordedObject(request["method"], request["url"], response["bodySize"]))
        content = response["content"]
        # A comment marks a body in an encoding that the archive's reader does not support.
        if content["comment"] or content["mimeType"].startswith(_BINARY):
            continue
        plain = base64.b64decode(content["text"]).decode("utf-8", "replace")
        for written, meant in _ESCAPED:
            plain = plain.replace(written, meant)
        texts.setdefault(request["url"], plain)
    return Contents(tuple(objects), texts)


MOSTLY = 0.5
"""Share of secure objects below which the page itself is taken to be http."""


def check_secure(stacks: Sequence[Stack], sites: Sequence[RecordedSite]) -> None:
    """Raise `PlanError` if a stack with TLS would load a site without an https origin."""
    secure = next((stack.name for stack in stacks if stack.tls_version != "none"), None)
    recordings = {each.path: each for site in sites for each in site.recordings()}
    plain = [each for each in recordings.values() if secure and secure_share(each.path) == 0]
    if plain:
        raise PlanError(
            [
                f"{site.path}: it was recorded over http only, so `{secure}` and every other "
                "stack would load it in cleartext over HTTP/1.1; make an https site of it: "
                f"eyelevel site import {site.path} --secure --out {site.name}-secure.wacz"
                for site in plain
            ]
        )


def secure_share(recording: Path) -> float:
    """Return the share of a recording's objects that came over https, 0 to 1."""
    return float(site_info(recording)["secure_share"])


def make_secure(recording: Path, out: Path) -> None:
    """Write the recording's https twin, which is marked as altered."""
    run_tool(["archive", "import", str(recording), "--secure", "--out", str(out)])


USED_SHARE_MIN = 0.5
"""Minimum share of a recording's objects, and of its bytes, that loads must use. Fit
third-party recordings had at least 89 %; those that start with a beacon 2 of 136 and 2 of 56
objects (docs/decisions/0024-recordings.md).
"""


@dataclass(frozen=True)
class Use:
    """The part of a recording that was requested, in all loads together.

    An object is a method with a URL: one that was recorded several times counts once, with its
    largest response, since a browser may need it once.
    """

    objects_used: int
    objects_recorded: int
    body_bytes_used: int
    body_bytes_recorded: int
    unused: tuple[RecordedObject, ...]
    """Objects that no load requested, the largest first."""

    @property
    def objects_share(self) -> float:
        """Fraction of objects used, 0 to 1; 1.0 for an empty recording."""
        return _share(self.objects_used, self.objects_recorded)

    @property
    def body_bytes_share(self) -> float:
        """Fraction of body bytes used, 0 to 1; 1.0 for an empty recording."""
        return _share(self.body_bytes_used, self.body_bytes_recorded)

    def failure(self, share_min: float) -> str:
        """Return why the page is not the recorded one; "" if it may be."""
        of = f"{self.objects_used} of {self.objects_recorded} recorded objects"
        if self.objects_share < share_min:
            return f"its loads use {of}, less than {share_min:.0%} of the recording"
        if self.body_bytes_share < share_min:
            return (
                f"its loads use {self.body_bytes_share:.0%} of the recorded bytes ({of}), less "
                f"than {share_min:.0%} of the recording; was it recorded in another viewport?"
            )
        return ""


def use_of(objects: Sequence[RecordedObject], answered: Iterable[int]) -> Use:
    """Compute the use; `answered` are indexes of `objects` (pure)."""
    largest: dict[tuple[str, str], RecordedObject] = {}
    for one in objects:
        key = one.method, one.url
        if key not in largest or largest[key].body_bytes < one.body_bytes:
            largest[key] = one
    used = {(objects[at].method, objects[at].url) for at in answered}
    unused = [one for key, one in largest.items() if key not in used]
    recorded_bytes = sum(one.body_bytes for one in largest.values())
    return Use(
        objects_used=len(used),
        objects_recorded=len(largest),
        body_bytes_used=recorded_bytes - sum(one.body_bytes for one in unused),
        body_bytes_recorded=recorded_bytes,
        unused=tuple(sorted(unused, key=lambda one: -one.body_bytes)),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
