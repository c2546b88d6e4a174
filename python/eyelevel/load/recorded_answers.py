"""The recorded answers to requests, against which an external server's are checked.

A server that compresses otherwise, or not at all, sends another page: its load is no measurement of
a protocol or a server. The sizes are those of bodies, since heads differ between servers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from eyelevel.base.json_types import JsonMapping
from eyelevel.browser.observations import ObjectLoad
from eyelevel.lab.binary import run_tool
from eyelevel.sites.rendering import blocks_rendering
from eyelevel.store.disk import temporary_folder

SIZE_SHARE_MAX = 0.01
"""The largest difference between a body's size and the recorded one, as a share of the latter."""
FRAME_BYTES_MAX = 9
"""Bytes around each frame of a body that browsers count as received (RFC 9113, section 4.1)."""
FRAME_PAYLOAD_BYTES_MIN = 256
"""The smallest frames that are expected of a server that does not give a body's length."""
NOT_RECORDED_STATUS = 404
"""The status that our servers answer to what was not recorded."""
TAB_ICON = "/favicon.ico"
_BLOCKED = "MissingAllowOriginHeader"
"""Chromium's text for a font or script of another origin that lacks the CORS header."""


@dataclass(frozen=True)
class SentBody:
    """The size of a body as sent, bytes; `slack_bytes`: how much of it may be frames instead."""

    size_bytes: int
    slack_bytes: int = 0


@dataclass(frozen=True)
class RecordedAnswer:
    """The status of a recorded answer and the size of its body as sent, bytes."""

    status: int
    body_bytes: int


@dataclass(frozen=True)
class RecordedAnswers:
    """The recorded answers of a site by URL, and by URL without query."""

    by_url: Mapping[str, RecordedAnswer] = field(default_factory=dict)
    by_path: Mapping[str, tuple[RecordedAnswer, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, table: str) -> "RecordedAnswers":
        """Parse the table of `eyelevel-lab archive export --answers`."""
        by_url: dict[str, RecordedAnswer] = {}
        by_path: dict[str, tuple[RecordedAnswer, ...]] = {}
        for line in table.split("\n")[:-1]:
            host, target, _, _, status, size = line.split("\t")
            answer = RecordedAnswer(int(status), int(size))
            by_url.setdefault(f"{host}{target}", answer)
            path = f"{host}{target.partition('?')[0]}"
            by_path[path] = (*by_path.get(path, ()), answer)
        return cls(by_url, by_path)

    def find(self, url: str) -> tuple[RecordedAnswer, ...]:
        """Return what may answer a URL: its own answer, else those of other queries."""
        parts = urlsplit(url)
        path = f"{parts.netloc}{parts.path or '/'}"
        whole = f"{path}?{parts.query}" if parts.query else path
        own = self.by_url.get(whole)
        return (own,) if own else self.by_path.get(path, ())


@lru_cache(maxsize=64)
def read_answers(archive: str, digest: str) -> RecordedAnswers:
    """Return the recorded answers of a recording; `digest` is its, under which it is kept.

    Raises LabError if the recording cannot be read.
    """
    with temporary_folder("answers") as folder:
        out = folder / "site"
        run_tool(["archive", "export", archive, "--answers", str(out)], prints_json=False)
        return RecordedAnswers.parse((out / "answers.tsv").read_text("utf-8"))


def measure_bodies(objects: Iterable[ObjectLoad]) -> list[SentBody | None]:
    """Return the size of each object's body as sent; None where the browser does not report it."""
    return [_measure_body(item) for item in objects]


def _measure_body(item: ObjectLoad) -> SentBody | None:
    message = item.message
    if item.source != "network" or item.finished_ms is None or item.failed or message is None:
        return None
    fields = {name.lower(): value for name, value in message.response_fields}
    length = fields.get("content-length", "").strip()
    if length.isdecimal():
        return SentBody(int(length))
    if message.response_head_bytes is None:
        return None
    size = max(0, item.encoded_bytes - message.response_head_bytes)
    frames = size // FRAME_PAYLOAD_BYTES_MIN + 2
    return SentBody(size, frames * FRAME_BYTES_MAX)


def find_unserved(objects: Sequence[JsonMapping], answers: RecordedAnswers) -> str:
    """Return the first object that an external server did not serve as recorded, as a sentence.

    An error that was recorded is no failure, nor is a 404 for what was not recorded and does not
    block rendering: ours answers the same. Tab icons never count. Empty if all were served.
    """
    for item in _drop_icons(objects):
        status, url = item["status"] or 0, item["url"]
        recorded = [each.status for each in answers.find(url)]
        as_ours = status == NOT_RECORDED_STATUS and not recorded and not blocks_rendering(item)
        if status >= 400 and status not in recorded and not as_ours:
            was = f"; {recorded[0]} was recorded" if recorded else "; it is not in the recording"
            return f"the external server answered {status} for {url}{was}"
        if _BLOCKED in (item["failed"] or ""):
            return f"the external server sent {url} without access-control-allow-origin"
    return ""


def find_other_size(
    objects: Sequence[JsonMapping],
    bodies: Sequence[SentBody | None],
    answers: RecordedAnswers,
) -> str:
    """Return the first object whose body has another size than recorded, as a sentence.

    `bodies` has the objects' sizes, in their order. Empty if all are within `SIZE_SHARE_MAX`.
    """
    for item, sent in zip(objects, bodies, strict=True):
        if sent is None or item["method"] != "GET" or item["status"] != 200 or _is_icon(item):
            continue
        recorded = [each.body_bytes for each in answers.find(item["url"]) if each.status == 200]
        if not recorded or any(_is_alike(sent, size) for size in recorded):
            continue
        return (
            f"the external server sent {item['url']} with {sent.size_bytes} bytes, ours sends "
            f"{recorded[0]}; send the file as it is, with its recorded fields (Content-Encoding)"
        )
    return ""


def _is_alike(sent: SentBody, recorded_bytes: int) -> bool:
    allowed = SIZE_SHARE_MAX * recorded_bytes
    return -allowed <= sent.size_bytes - recorded_bytes <= allowed + sent.slack_bytes


def _drop_icons(objects: Iterable[JsonMapping]) -> Iterator[JsonMapping]:
    return (item for item in objects if not _is_icon(item))


def _is_icon(item: JsonMapping) -> bool:
    return urlsplit(item["url"]).path == TAB_ICON
