"""Read a plan from its `plan.json`, independently of current files and presets."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from eyelevel.base.errors import PlanError, reason_of
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.checks import refuse_mistakes
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import PLAN_DOCUMENT_VERSION, TRIALS_MAX

OF_TRIALS = ("version", "hash", "trials")
"""Keys of a `plan.json` that are derived from the plan."""

_HASH = re.compile(r"[0-9a-z]{1,64}")
_SITE_NAME = re.compile(r"[^./\\\0][^/\\\0]{0,200}")
"""Pattern of a site's name, which becomes part of file names."""


def plan_of_document(
    document: JsonMapping,
    sites: Sequence[str] | None = None,
    trace_files: Mapping[str, str] | None = None,
    *,
    source: str = "plan.json",
    is_part: bool = False,
) -> Plan:
    """Return the plan of a `plan.json`: the reverse of `plan_document`.

    `sites`: current paths of its recordings, in its order; None for their names. `trace_files`:
    current paths of its networks' files, by digest. `source`: the file's name for messages. Every
    value is validated like a plan file's, unless it `is_part` of a document that was validated
    before. Raises `PlanError` for a document that this version did not write.
    """
    stated = {key: value for key, value in document.items() if key not in OF_TRIALS}
    try:
        if document["version"] != PLAN_DOCUMENT_VERSION:
            raise ValueError(f"version {document['version']!r}")
        names = [_site_name(site) for site in document["sites"]]
        variants = [
            {**variant, "recordings": [_site_name(site) for site in variant["recordings"]]}
            for variant in document.get("variants", ())
        ]
        plan = Plan.read({**stated, "sites": names, "variants": variants, "trace_files": {}})
        if not is_part:
            refuse_mistakes(plan)
            _check_trials(document["trials"], plan)
        if not isinstance(document["hash"], str):
            raise ValueError("it has no hash")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PlanError(
            [
                f"{source}: not of this eyelevel ({_format_error(error)}); "
                "use the eyelevel that wrote it"
            ]
        ) from error
    located = {"sites": tuple(sites)} if sites is not None else {}
    return replace(plan, **located, trace_files=dict(trace_files or {}))


def _site_name(site: JsonMapping) -> str:
    name, digest = site["name"], site["digest"]
    if not (isinstance(name, str) and _SITE_NAME.fullmatch(name) and isinstance(digest, str)):
        raise ValueError(f"`sites`: {excerpt(name)} is not the name of a site with its digest")
    return name


def _check_trials(trials: object, plan: Plan) -> None:
    """Check that each trial belongs to the plan and has the keys that are read."""
    if not isinstance(trials, list) or len(trials) > TRIALS_MAX:
        raise ValueError("`trials` is not a list, or is too long")
    known = {
        "site": set(plan.sites),
        "network": {network.name for network in plan.networks},
        "stack": {stack.name for stack in plan.stacks},
    }
    for place, trial in enumerate(trials):
        for key, names in known.items():
            if trial[key] not in names:
                raise ValueError(f"`trials.{place}.{key}`: the plan has no {excerpt(trial[key])}")
        for key in ("repetition", "position", "seed"):
            if type(trial[key]) is not int or trial[key] < 0:
                raise ValueError(f"`trials.{place}.{key}` is not a number")
        if not isinstance(trial["block"], str) or not _HASH.fullmatch(trial["hash"]):
            raise ValueError(f"`trials.{place}`: it has no hash or no block")


def _format_error(error: Exception) -> str:
    """Return an error as one line; for pydantic's errors, the first key and its fault."""
    if isinstance(error, KeyError):
        return f"it lacks {excerpt(error)}"
    details = getattr(error, "errors", None)
    if details is None:
        return excerpt(error)
    first = details()[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"`{excerpt(key)}`: {excerpt(reason_of(first))}"
