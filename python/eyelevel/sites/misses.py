"""Explain the requests of a page that its recording cannot answer."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from eyelevel.base.json_types import JsonMapping
from eyelevel.browser.observations import ObjectLoad
from eyelevel.sites.contents import Texts
from eyelevel.sites.rendering import IN_BODY, blocks_rendering, only_scripts_below

_NAME_MIN = 4
"""Minimum length of a path to search for: a shorter one, such as a root, occurs by chance."""

_SHOWN_MAX = 80
"""Maximum characters of a URL inside a phrase."""


@dataclass(frozen=True)
class Miss:
    """A URL that the page requested and the recording does not have."""

    url: str
    resource_type: str
    render_blocking: bool
    nearest_url: str | None
    explanation: str
    """A phrase: why it is missing, and why the nearest URL does not answer."""
    is_icon: bool = False
    """Whether the browser requested it as the tab's icon, which the page does not show."""
    named_in: str | None = None
    """URL of the recorded text that names this URL: the recording itself lacks the response.
    None if a script generated the URL, which may be an effect of the replay.
    """


def miss_of(
    item: ObjectLoad | None,
    url: str,
    answer: JsonMapping | None,
    initiators: Mapping[str, str],
    texts: Texts,
) -> Miss:
    """Return one miss, as recorded by browser (`item`) and server (`answer`).

    One of them may be None.
    """
    kind = item.resource_type if item else "Other"
    by = initiators.get(url)
    initiator_type = item.initiator_type if item else None
    # No part of the page requests a tab's icon: the browser does so itself. The page's own log
    # lacks requests of workers.
    is_icon = (
        item is not None and kind == "Other" and by is None and initiator_type in (None, "other")
    )
    source, reason = _reason(url, by, initiator_type == "parser", answer, texts)
    if is_icon:
        reason = "the icon of a browser's tab, which its recorder did not ask for"
    elif answer is not None:
        reason += f"; the nearest has another {answer.get('difference')}"
    if item is not None and item.render_blocking == IN_BODY:
        markup = texts.get(by or "", "")
        only = only_scripts_below(markup, by or "", url)
        held = "only scripts stand" if only else "it holds what stands"
        reason += f"; a synchronous script of the body: {held} below it"
    return Miss(
        url=url,
        resource_type=kind,
        render_blocking=item is not None and blocks_rendering(asdict(item)),
        nearest_url=answer.get("nearest_url") if answer else None,
        explanation=reason,
        is_icon=is_icon,
        named_in=source,
    )


def _reason(
    url: str, by: str | None, by_markup: bool, answer: JsonMapping | None, texts: Texts
) -> tuple[str | None, str]:
    """Return the recorded text that names the missing URL, or None, and an explanation."""
    # If the markup cannot be read here, rely on the browser's initiator.
    if source := find_naming_texts(url, texts) or (by if by_markup and by not in texts else None):
        return source, f"named in {_brief(source)}, but the recording does not hold its answer"
    made_up = f"made up by {_brief(by or 'a script or worker')}"
    if answer is not None:
        return None, made_up
    if source := find_naming_texts(f"//{urlsplit(url).netloc}", texts):
        clause = f"its host is named in {_brief(source)}"
        return source, f"{made_up}; {clause}, but nothing of it was recorded"
    return None, f"{made_up}; nothing was recorded from its host"


def _brief(url: str) -> str:
    return url if len(url) <= _SHOWN_MAX else f"{url[:_SHOWN_MAX]}…"


def find_naming_texts(url: str, texts: Texts) -> str | None:
    """Return the URL of the first recorded text that contains the URL, with host or as a path."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    for source, text in texts.items():
        on_its_own = len(target) >= _NAME_MIN and urlsplit(source).netloc == parts.netloc
        if f"//{parts.netloc}{target}" in text or (on_its_own and target in text):
            return source
    return None


def in_order(misses: Iterable[Miss]) -> tuple[Miss, ...]:
    """Return misses by importance: render-blocking ones first, icons last."""
    return tuple(
        sorted(misses, key=lambda miss: (not miss.render_blocking, miss.is_icon, miss.url))
    )
