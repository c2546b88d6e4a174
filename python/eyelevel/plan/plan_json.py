"""A plan from its `plan.json`: as it was resolved then, whatever lies where and presets are now."""

from collections.abc import Mapping, Sequence

from eyelevel.errors import PlanError
from eyelevel.json_types import JsonMapping
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import PLAN_DOCUMENT_VERSION

OF_TRIALS = ("version", "hash", "trials")
"""Of a `plan.json`, what follows from the plan."""


def plan_of_document(
    document: JsonMapping,
    sites: Sequence[str] | None = None,
    trace_files: Mapping[str, str] | None = None,
) -> Plan:
    """The plan whose loads a `plan.json` lists: the reverse of `plan_document`.

    `sites`: where its recordings are now, in its order, else their names; `trace_files`: where the
    files of its networks are, by digest. Raises PlanError for what this eyelevel has not written.
    """
    stated = {key: value for key, value in document.items() if key not in OF_TRIALS}
    try:
        if document["version"] != PLAN_DOCUMENT_VERSION:
            raise ValueError(f"version {document['version']!r}")
        planned = {stack["name"] for stack in document["stacks"]}
        asked = [Comparison.read(each) for each in document["comparisons"]]
        compared = {name for each in asked for name in (each.stack, each.reference)}
        if not compared <= planned or not isinstance(document["hash"], str):
            raise ValueError("a comparison is of a stack that it has not, or it has no hash")
        if not all(isinstance(trial["hash"], str) for trial in document["trials"]):
            raise ValueError("a trial has no hash")
        names = [site["name"] for site in document["sites"]] if sites is None else list(sites)
        return Plan.read({**stated, "sites": names, "trace_files": dict(trace_files or {})})
    except (KeyError, TypeError, ValueError) as error:
        said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        reason = " ".join(said.split())
        raise PlanError(
            [f"plan.json: not of this eyelevel ({reason}); use the eyelevel that wrote it"]
        ) from error
