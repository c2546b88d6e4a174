"""Read a plan from its `plan.json`, independently of current files and presets.

Check a plan from a `plan.json` by the rules of a plan file's parser.

A `plan.json` may be untrusted. Its values have passed their types and bounds; these are the checks
between values, and of what would reach beyond the document: names, which are used in paths and
tables, and files of stages, which must be given as digests.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eyelevel.base.errors import PlanError, reason_of
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.file.model import NAME_PATTERN
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.stages import find_unnamed_file
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import PLAN_DOCUMENT_VERSION, TRIALS_MAX
from eyelevel.plan.variants import stack_alone, variant_of

OF_TRIALS = ("version", "hash", "trials")
"""Keys of a `plan.json` that are derived from the plan."""


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One load as `plan.json` lists it; the fields are those of `eyelevel.plan.trials.Trial`."""

    hash: str
    site: str
    network: str
    stack: str
    block: str
    repetition: int
    position: int
    seed: int


@dataclass(frozen=True)
class Recording:
    """A recording that a run loads: its site's name and its digest."""

    name: str
    digest: str


@dataclass(frozen=True)
class StoredPlan:
    """The plan of an existing run, with what its `plan.json` adds to a plan's file."""

    plan: Plan
    hash: str
    recordings: tuple[Recording, ...]
    """The recordings of the plan's sites, in their order."""
    variant_recordings: Mapping[str, tuple[Recording, ...]]
    """The recordings of each variant, by its name, in the order of the sites; empty for one that
    loads the sites as they are."""
    trials: tuple[PlannedTrial, ...]


_NO_FILES: JsonMapping = {"trace_files": {}, "recording_files": {}}
"""The paths of files, which no document has."""

_HASH = re.compile(r"[0-9a-z]{1,64}")
_SITE_NAME = re.compile(r"[^./\\\0][^/\\\0]{0,200}")
"""Pattern of a site's name, which becomes part of file names."""


def parse_plan_document(document: JsonMapping, *, source: str = "plan.json") -> StoredPlan:
    """Return the plan of a `plan.json`: the reverse of `plan_document`.

    Its sites are names, without paths; `source` is the file's name for messages. Every value is
    validated like a plan file's. Raises `PlanError` for a document that this version did not write.
    """
    stated = {key: value for key, value in document.items() if key not in OF_TRIALS}
    try:
        if document["version"] != PLAN_DOCUMENT_VERSION:
            raise ValueError(f"version {document['version']!r}")
        recordings = _read_recordings(document["sites"])
        of_variants = {
            variant["name"]: _read_recordings(variant["recordings"])
            for variant in document.get("variants", ())
        }
        variants = [
            {**variant, "recordings": _names_of(of_variants[variant["name"]])}
            for variant in document.get("variants", ())
        ]
        named = {"sites": _names_of(recordings), "variants": variants}
        plan = Plan.read({**stated, **named, **_NO_FILES})
        _refuse_mistakes(plan)
        trials = _read_trials(document["trials"], plan)
        if not isinstance(document["hash"], str):
            raise ValueError("it has no hash")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PlanError(
            [
                f"{source}: not of this eyelevel ({_format_error(error)}); "
                "use the eyelevel that wrote it"
            ]
        ) from error
    return StoredPlan(plan, document["hash"], recordings, of_variants, trials)


def _read_recordings(sites: Sequence[JsonMapping]) -> tuple[Recording, ...]:
    recordings = []
    for site in sites:
        name, digest = site["name"], site["digest"]
        if not (isinstance(name, str) and _SITE_NAME.fullmatch(name) and isinstance(digest, str)):
            raise ValueError(f"`sites`: {excerpt(name)} is not the name of a site with its digest")
        recordings.append(Recording(name, digest))
    return tuple(recordings)


def _names_of(recordings: Sequence[Recording]) -> list[str]:
    return [recording.name for recording in recordings]


def _read_trials(trials: object, plan: Plan) -> tuple[PlannedTrial, ...]:
    """Return the trials, after checking that each belongs to the plan."""
    if not isinstance(trials, list) or len(trials) > TRIALS_MAX:
        raise ValueError("`trials` is not a list, or is too long")
    known = {
        "site": set(plan.sites),
        "network": {network.name for network in plan.networks},
        "stack": {stack.name for stack in plan.stacks},
    }
    planned = []
    for place, trial in enumerate(trials):
        for key, names in known.items():
            if trial[key] not in names:
                raise ValueError(f"`trials.{place}.{key}`: the plan has no {excerpt(trial[key])}")
        for key in ("repetition", "position", "seed"):
            if type(trial[key]) is not int or trial[key] < 0:
                raise ValueError(f"`trials.{place}.{key}` is not a number")
        if not isinstance(trial["block"], str) or not _HASH.fullmatch(trial["hash"]):
            raise ValueError(f"`trials.{place}`: it has no hash or no block")
        planned.append(PlannedTrial(*map(trial.__getitem__, PlannedTrial.__slots__)))
    return tuple(planned)


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


_NAME = re.compile(NAME_PATTERN.replace("{0,63}", "{0,95}"))
"""Pattern of a stack's or network's name, including the suffixes of twins."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


def _refuse_mistakes(plan: Plan) -> None:
    """Raise `ValueError` with the key and the reason of the first mistake."""
    for key, reason in _mistakes(plan):
        raise ValueError(f"`{key}`: {reason}")


def _mistakes(plan: Plan) -> Iterator[tuple[str, str]]:
    networks, stacks, variants = plan.networks, plan.stacks, plan.variants
    for key, members in (("networks", networks), ("variants", variants)):
        yield from _names(key, [member.name for member in members])
    known = {variant.name for variant in variants} or {""}
    for variant in known:
        named = [stack.name for stack in stacks if variant_of(stack.name) == variant]
        yield from _names("stacks", [stack_alone(name) for name in named])
    for place, stack in enumerate(stacks):
        if variant_of(stack.name) not in known:
            yield f"stacks.{place}.name", "it is of a variant that the plan has not"
    for place, each in enumerate(variants):
        if each.recordings and len(each.recordings) != len(plan.sites):
            yield f"variants.{place}", "it has other recordings than one for each site"
        if each.live and (why := each.live.refusal()):
            yield f"variants.{place}.live", why
        if each.browser and (refused := each.browser.apply_to(plan.browser).refusal()):
            yield f"variants.{place}.browser.{refused[0]}", refused[1]
    for place, network in enumerate(networks):
        for reason in _of_network(network):
            yield f"networks.{place}", reason
    if refused := plan.browser.refusal():
        yield f"browser.{refused[0]}", refused[1]
    for place, stack in enumerate(stacks):
        refusal = stack.refusal() or plan.browser_of(stack.name).find_refused_stack(stack)
        if refusal:
            yield f"stacks.{place}", refusal
    for place, site in enumerate(plan.sites):
        if not site.isprintable():
            yield f"sites.{place}", "its name has a character that none can have"
        if site in plan.sites[:place]:
            yield f"sites.{place}", "it is listed twice"
    yield from _references(plan, networks, stacks)


def _names(key: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, name in enumerate(names):
        if not _NAME.fullmatch(name):
            yield f"{key}.{place}.name", "a name has letters, digits, spaces and `._+@-`"
        elif name in names[:place]:
            yield f"{key}.{place}.name", "the name is used twice; names tell results apart"


def _of_network(network: Network) -> Iterator[str]:
    for stages in (network.stages_down, network.stages_up):
        if stages is not None and (named := find_unnamed_file(stages)):
            yield f"the stages name `{named}`; files are named by their digests"
    if (network.stages_down is None) != (network.stages_up is None):
        yield "it has stages in only one direction"
    for digest in (network.trace_down_sha256, network.trace_up_sha256):
        if digest is not None and not _DIGEST.fullmatch(digest):
            yield "a trace's file is named by no digest"
    if reason := network.refusal():
        yield reason


def _references(
    plan: Plan, networks: Sequence[Network], stacks: Sequence[Stack]
) -> Iterator[tuple[str, str]]:
    stack_names, network_names = {s.name for s in stacks}, {n.name for n in networks}
    for place, comparison in enumerate(plan.comparisons):
        if not {comparison.stack, comparison.reference} <= stack_names:
            yield f"comparisons.{place}", "a comparison is of a stack that it has not"
    if not set(plan.weights) <= network_names:
        yield "weights", "they are of other networks than the plan's"
    if plan.causes is not None:
        twins = plan.causes.stacks.items()
        named = {name for stack, by_cause in twins for name in (stack, *by_cause.values())}
        if not named <= stack_names:
            yield "causes.stacks", "a twin is of a stack that it has not"
        lossless = plan.causes.networks
        if not {*lossless, *lossless.values()} <= network_names:
            yield "causes.networks", "a twin is of a network that it has not"
