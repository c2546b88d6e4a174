"""A plan from its `plan.json`: as it was resolved then, whatever lies where and presets are now."""

from collections.abc import Mapping, Sequence

from eyelevel.errors import PlanError
from eyelevel.json_types import JsonMapping
from eyelevel.plan.plan import Plan

OF_TRIALS = ("version", "hash", "trials")
"""Of a `plan.json`, what follows from the plan."""


def plan_of_document(
    document: JsonMapping,
    sites: Sequence[str] | None = None,
    trace_files: Mapping[str, str] | None = None,
) -> Plan:
    """The plan whose loads a `plan.json` lists: the reverse of `plan_document`.

    `sites`: where its recordings are now, in its order, else their names; `trace_files`: where the
    files of its networks are, by digest. Raises PlanError for settings that this eyelevel does not
    know.
    """
    stated = {key: value for key, value in document.items() if key not in OF_TRIALS}
    try:
        names = [site["name"] for site in document["sites"]] if sites is None else list(sites)
        return Plan.read({**stated, "sites": names, "trace_files": dict(trace_files or {})})
    except (KeyError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise PlanError(
            [f"plan.json: not of this eyelevel ({reason}); use the eyelevel that wrote it"]
        ) from error
