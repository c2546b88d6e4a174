"""Check that a `plan.json` agrees with the plan text in it, by resolving the text again.

The recipient of a run reads the text, but the document is what is run. A document that differs from
its text was changed, or the presets differ in this version.
"""

from collections.abc import Callable, Mapping

from eyelevel.base.errors import PlanError
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.file.from_document import readers_of
from eyelevel.plan.file.parse import plan_of_toml
from eyelevel.plan.plan import Plan

_APART = ("source", "sites", "trace_files")
"""Keys that are not compared: the text itself, and paths of recordings and traces, which are
identified by digests.
"""


def check_text(plan: Plan, source: str, mean_rate_bit_s: Callable[[str], int]) -> None:
    """Raise `PlanError` with the first key in which `plan` differs from its own text.

    `plan` was read from the document `source`; `mean_rate_bit_s` returns a trace's rate by digest.
    Stages, which only the data plane can parse, and digests are taken from the document: they are
    checked against the files elsewhere. A plan without a text is not checked.
    """
    if not plan.source:
        return
    data = parse_toml(plan.source, Source(f"{source}: the plan's text", PLAN, plan_error))
    data["sites"] = list(plan.sites)
    for table, variant in zip(data.get("variants", ()), plan.variants, strict=False):
        if isinstance(table, dict) and "recordings" in table:
            table["recordings"] = list(variant.recordings)
    readers = readers_of(plan.networks, data, mean_rate_bit_s)
    resolved = plan_of_toml(data, plan.source, f"{source}: the plan's text", readers=readers)
    stated, said = plan.stated(without=_APART), resolved.stated(without=_APART)
    if (found := _difference(stated, said)) is not None:
        key, has, would = found
        raise PlanError(
            [
                f"{source}: `{key}` is {excerpt(has)}, and by the plan's text in it "
                f"{excerpt(would)}: it was changed, or the presets have; use the eyelevel that "
                "wrote it, or get it again"
            ]
        )


def _difference(has: object, would: object, key: str = "") -> tuple[str, object, object] | None:
    """Return the first key in which the two values differ, and both values there; None if equal."""
    if isinstance(has, Mapping) and isinstance(would, Mapping):
        for name in sorted({*has, *would}):
            inner = f"{key}.{name}" if key else str(name)
            if found := _difference(has.get(name), would.get(name), inner):
                return found
        return None
    if isinstance(has, list) and isinstance(would, list) and len(has) == len(would):
        for place, pair in enumerate(zip(has, would, strict=True)):
            if found := _difference(*pair, f"{key}.{place}"):
                return found
        return None
    return None if has == would else (key, has, would)
