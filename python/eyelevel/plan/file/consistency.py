"""Check that the resolved values in a `plan.json` agree with the plan text in it, by resolving it
again.

Who gets a run from somebody else reads the text, and what is run is the document. A document that
says otherwise than its text was changed, or its presets are others here.
"""

from collections.abc import Callable, Mapping

from eyelevel.errors import PlanError
from eyelevel.from_outside.limits import PLAN
from eyelevel.from_outside.source import Source, plan_error
from eyelevel.from_outside.toml_text import parse_toml
from eyelevel.from_outside.words import excerpt
from eyelevel.plan.file.from_document import readers_of
from eyelevel.plan.file.parse import plan_of_toml
from eyelevel.plan.plan import Plan

_APART = ("source", "sites", "trace_files")
"""The keys that are not compared: the text itself, and paths of recordings and traces, which
digests identify."""


def check_text(plan: Plan, source: str, mean_rate_bit_s: Callable[[str], int]) -> None:
    """Raise PlanError with the first key in which `plan` is not what its own text says.

    `plan` was read from the document `source`; `mean_rate_bit_s` gives a trace's rate by its
    digest. Stages, which the data plane alone can read, and digests are taken as the document has
    them: the files behind them are checked by these. A plan without a text has none to differ from.
    """
    if not plan.source:
        return
    data = parse_toml(plan.source, Source(f"{source}: the plan's text", PLAN, plan_error))
    data["sites"] = list(plan.sites)
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
    """Return the first key in which they differ, and both values."""
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
