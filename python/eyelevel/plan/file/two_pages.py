"""A question about two recordings of one page, as the text of a plan."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from eyelevel.base.errors import PlanError, unknown
from eyelevel.plan.file.change import BLOCKS_MAX, sequential_plan, toml_text
from eyelevel.plan.plan import ARCHIVE_SUFFIXES
from eyelevel.plan.stack_presets import STACKS_BY_NAME

DEFAULT_STACK = "quic"
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
    if stack not in STACKS_BY_NAME:
        raise PlanError([f"--stack: {unknown('stack', stack, STACKS_BY_NAME)}"])
    old, new = (toml_text(name) for name in name_variants(before, after))
    asked = (
        f"stacks = [{toml_text(stack)}]\n"
        f"variants = [{{ name = {old} }}, {{ name = {new}, recordings = [{toml_text(after)}] }}]\n"
        f"reference = {old}\n"
    )
    title = "What does {1} change against {0}?".format(*name_variants(before, after))
    return sequential_plan(title, [before], asked, networks, blocks_max, users)


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
