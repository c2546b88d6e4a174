"""A question about two recordings of one page, or about an edit of one, as the text of a plan."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import urlsplit

from eyelevel.base.errors import PlanError, unknown
from eyelevel.plan.edits import Edit
from eyelevel.plan.file.change import BLOCKS_MAX, sequential_plan, toml_text
from eyelevel.plan.plan import ARCHIVE_SUFFIXES
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.synthetic_site import LIVE_ORIGIN, LIVE_PREFIX

DEFAULT_STACK = "quic"
RECORDED = "recorded"
"""The name of the variant without an edit."""
UNCHANGED = "as-planned"
"""The name of the variant with the browser's usual settings."""
NAME_LENGTH_MAX = 40
_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9._+@-]+")


def pages_plan(
    before: str,
    after: str,
    stack: str,
    networks: Sequence[str],
    blocks_max: int = BLOCKS_MAX,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan that compares two recordings over one stack.

    `users`: a plan's `networks` as text, in the place of presets' names. Raises PlanError for an
    unknown stack or network.
    """
    old, new = name_variants(before, after)
    first = f"{{ name = {toml_text(old)} }}"
    changed = f"{{ name = {toml_text(new)}, recordings = [{toml_text(after)}] }}"
    return _variants_plan(before, old, first, changed, new, stack, networks, blocks_max, users)


def live_plan(
    before: str,
    after: str,
    stack: str,
    networks: Sequence[str],
    blocks_max: int = BLOCKS_MAX,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan that compares the servers at two URLs.

    The page is at the path of `before`. `users` and errors are those of `pages_plan`.
    """
    servers = [urlsplit(url) for url in (before, after)]
    old, new = (_as_name(server.netloc.replace(":", "-")) for server in servers)
    if not old or not new or old == new:
        old, new = "before", "after"
    path = before.partition(servers[0].netloc)[2] or "/"
    first, second = (
        f"{{ name = {toml_text(name)}, live = {{ url = {toml_text(f'http://{server.netloc}')} }} }}"
        for name, server in zip((old, new), servers, strict=True)
    )
    page = f"{LIVE_PREFIX}{LIVE_ORIGIN}{path}"
    return _variants_plan(page, old, first, second, new, stack, networks, blocks_max, users)


def edit_plan(
    page: str,
    edit: Edit,
    stack: str,
    networks: Sequence[str],
    blocks_max: int = BLOCKS_MAX,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan that compares a recording with its edited copy.

    `users` and errors are those of `pages_plan`.
    """
    new = _as_name(f"{edit.kind}-{PurePath(edit.value).name or edit.value}") or edit.kind
    first = f"{{ name = {toml_text(RECORDED)} }}"
    changed = f"{{ name = {toml_text(new)}, edits = [{toml_text(edit.name)}] }}"
    return _variants_plan(page, RECORDED, first, changed, new, stack, networks, blocks_max, users)


BROWSER_CHANGES = {
    "browser": "browser",
    "device": "device",
    "cpu-slowdown": "cpu_slowdown",
    "color-scheme": "color_scheme",
    "javascript": "javascript",
    "chromium": "chromium",
    "flags": "chromium_flags",
}
"""Keys of a browser's settings by the first word of a change, such as `device:moto-g`."""


def browser_plan(
    page: str,
    change: str,
    stack: str,
    networks: Sequence[str],
    blocks_max: int = BLOCKS_MAX,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan that compares two settings of the browser.

    `change`: one of BROWSER_CHANGES, a colon and the value. `users` and errors are those of
    `pages_plan`; values are validated when the text is parsed.
    """
    word, _, value = change.partition(":")
    key, value = BROWSER_CHANGES[word], value.strip()
    given = toml_text(value)
    if key == "chromium_flags":
        given = f"[{', '.join(toml_text(flag) for flag in value.split())}]"
    elif key == "javascript":
        given = {"on": "true", "off": "false"}.get(value, toml_text(value))
    elif key == "cpu_slowdown" and re.fullmatch(r"\d+(\.\d+)?", value):
        given = value
    new = _as_name(f"{word}-{PurePath(value).name or value}") or word
    first = f"{{ name = {toml_text(UNCHANGED)} }}"
    changed = f"{{ name = {toml_text(new)}, browser = {{ {key} = {given} }} }}"
    return _variants_plan(page, UNCHANGED, first, changed, new, stack, networks, blocks_max, users)


def _variants_plan(
    page: str,
    old: str,
    first: str,
    changed: str,
    new: str,
    stack: str,
    networks: Sequence[str],
    blocks_max: int,
    users: str,
) -> str:
    """Return a plan of two variants, given by their tables."""
    if stack not in STACKS_BY_NAME:
        raise PlanError([f"--stack: {unknown('stack', stack, STACKS_BY_NAME)}"])
    request = (
        f"stacks = [{toml_text(stack)}]\n"
        f"variants = [{first}, {changed}]\n"
        f"reference = {toml_text(old)}\n"
    )
    title = f"What does {new} change against {old}?"
    return sequential_plan(title, [page], request, networks, blocks_max, users)


def name_variants(before: str, after: str) -> tuple[str, str]:
    """Return names that tell two recordings apart: their files', else their folders', else
    `before` and `after`."""
    for of in (_file_name, _folder_name):
        old, new = of(before), of(after)
        if old and new and old != new:
            return old, new
    return "before", "after"


def _file_name(recording: str) -> str:
    name = PurePath(recording).name
    for suffix in reversed(ARCHIVE_SUFFIXES):
        name = name.removesuffix(suffix)
    return _as_name(name)


def _folder_name(recording: str) -> str:
    return _as_name(PurePath(recording).parent.name)


def _as_name(text: str) -> str:
    return _NOT_OF_NAMES.sub("-", text)[:NAME_LENGTH_MAX].strip("-._+@")
