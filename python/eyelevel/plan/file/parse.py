"""Parse and validate a plan's TOML text, and resolve its presets.

Parse a plan's comparisons: its `comparisons`, or each stack with its `reference`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypedDict, Unpack

from pydantic import ValidationError

from eyelevel.base.errors import unknown
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.browser import Browser
from eyelevel.plan.causes import with_causes
from eyelevel.plan.comparisons import Comparison, against_one
from eyelevel.plan.edits import EDITS, parse_change, parse_edit
from eyelevel.plan.file.diagnostics import KeyedError, Problems, Report, explain_mistake
from eyelevel.plan.file.model import PlanKeys, read_plan_file
from eyelevel.plan.file.tables import Readers, check_cross_traffic, network_of, stack_of, with_twins
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.origin_rtts import with_plans
from eyelevel.plan.plan import SMALLEST_EFFECT_OF_VARIANTS, Plan, is_archive_path
from eyelevel.plan.stacks import EXTERNAL_SERVER_MARK, Stack
from eyelevel.plan.synthetic_site import LIVE_PREFIX, is_synthetic, parse_synthetic
from eyelevel.plan.user_timings import (
    NO_PRIMARY_SHIFT,
    SHIFT_METRIC,
    full_name,
    is_user_timing,
    with_short_names,
)
from eyelevel.plan.variants import Variant, against_variant, with_variants

_PATTERN = re.compile(r"[*?\[]")


class Known(TypedDict, total=False):
    """The names that a plan may refer to; each is None if not given.

    Sites that are not paths must be among `site_names`, the primary metric among `metric_names`
    (None: not checked). `matching` returns the sites that match a pattern with `*`, `?` or `[`
    (None: patterns of names are looked up in `site_names`, patterns of paths are errors). `readers`
    read the traces and stages that networks name (None: they are errors).
    """

    site_names: Collection[str] | None
    metric_names: Collection[str] | None
    matching: Callable[[str], Sequence[str]] | None
    readers: Readers | None


def parse_plan(text: str, file: str, **known: Unpack[Known]) -> Plan:
    """Return the plan that the TOML `text` describes; `file` is its name for messages.

    Raises `PlanError` with every mistake, each with file and line.
    """
    data = parse_toml(text, Source(file, PLAN, plan_error))
    return plan_of_toml(data, text, file, **known)


def plan_of_toml(data: JsonObject, text: str, file: str, **known: Unpack[Known]) -> Plan:
    """Parse a plan from TOML data, which is modified.

    `text` is for line numbers and for the record.
    """
    site_names, readers = known.get("site_names"), known.get("readers")
    problems = Problems(file, text)
    problems.places = _expand_patterns(data, site_names, known.get("matching"), problems.add)
    problems.refuse_any()
    try:
        parsed = read_plan_file(data)
    except ValidationError as error:
        for detail in error.errors():
            problems.add(*explain_mistake(detail))
        raise problems.refused() from error
    trace_files: dict[str, str] = {}
    networks = _resolve(
        parsed.networks,
        "networks",
        lambda table: network_of(table, readers, trace_files),
        problems.add,
    )
    stacks = _resolve(parsed.stacks, "stacks", stack_of, problems.add)
    _check_names(parsed, stacks, site_names, known.get("metric_names"), problems.add)
    variants = _variants(parsed, stacks, site_names, known.get("metric_names"), problems.add)
    compared = _parse_comparisons(parsed, stacks, variants, problems.add)
    problems.refuse_any()
    stacks = with_variants(with_plans(stacks, parsed.origin_rtt), variants)
    share, least_ms = _smallest_effect(parsed)
    weights = _weights(parsed, networks)
    key = "cross_traffic"
    try:
        cross_traffic = check_cross_traffic(parsed.cross_traffic)
        networks, weights = with_twins(networks, parsed.networks, weights, cross_traffic)
        key, causes = "causes", None
        if parsed.causes:
            stacks, networks, causes = with_causes(stacks, networks, parsed.causes)
    except ValueError as error:
        problems.add((key,), str(error))
        raise problems.refused() from error
    return Plan(
        title=parsed.title,
        sites=tuple(parsed.sites),
        networks=networks,
        stacks=stacks,
        comparisons=compared,
        blocks=parsed.blocks,
        seed=parsed.seed,
        primary_metric=full_name(parsed.primary_metric, known.get("metric_names") or ()),
        smallest_effect_of_interest=share,
        smallest_effect_of_interest_ms=least_ms,
        smallest_effect_reason=parsed.smallest_effect_reason.strip(),
        browser=parsed.browser_settings(),
        source=text,
        stop=parsed.stop,
        weights=weights,
        trace_files=trace_files,
        causes=causes,
        variants=variants,
    )


def _smallest_effect(parsed: PlanKeys) -> tuple[float, float | None]:
    """Return the smallest effect of interest as a share and in ms."""
    share, least_ms = parsed.smallest_effect_of_interest, parsed.smallest_effect_of_interest_ms
    is_given = least_ms is not None or "smallest_effect_of_interest" in parsed.model_fields_set
    return SMALLEST_EFFECT_OF_VARIANTS if parsed.variants and not is_given else (share, least_ms)


def _variants(
    parsed: PlanKeys,
    stacks: Sequence[Stack],
    site_names: Collection[str] | None,
    metric_names: Collection[str] | None,
    report: Report,
) -> tuple[Variant, ...]:
    """The variants as they are named; what is wrong with one is reported at its place."""
    found: list[Variant] = []
    sites = len(parsed.sites)
    for index, table in enumerate(parsed.variants or ()):
        recordings = table.recordings
        if table.name in [variant.name for variant in found]:
            report(
                ("variants", index),
                f"the variant `{table.name}` is named twice; names tell results apart",
            )
        if recordings is not None and len(recordings) != sites:
            report(
                ("variants", index, "recordings"),
                f"the variant `{table.name}` has {len(recordings)} recordings and the plan "
                f"{sites} sites; name one for each site, in the order of `sites`",
            )
        for place, site in enumerate(recordings or ()):
            if problem := _site_problem(site, site_names):
                report(("variants", index, "recordings", place), problem)
        edits = tuple(
            _edit(edit, ("variants", index, "edits", place), report)
            for place, edit in enumerate(table.edits or ())
        )
        if table.live and (refused := table.live.refusal()):
            report(("variants", index, "live"), f"the variant `{table.name}`: `live`: {refused}")
        if table.browser:
            browser = table.browser.apply_to(parsed.browser_settings())
            metric = full_name(parsed.primary_metric, metric_names or ())
            for reason in _list_refused(browser, stacks, metric):
                report(("variants", index, "browser"), f"the variant `{table.name}`: {reason}")
        recorded = tuple(recordings or ())
        found.append(Variant(table.name, recorded, edits, table.live, table.browser))
    _check_live(parsed, stacks, found, report)
    if found and parsed.causes:
        report(("causes",), "`causes` explains differences of stacks; leave it out, or `variants`")
    return tuple(found)


def _list_refused(browser: Browser, stacks: Sequence[Stack], metric: str) -> list[str]:
    """Return why these settings of a variant's browser cannot be used in the plan."""
    refused = browser.refusal()
    reasons = [
        refused[1] if refused else None,
        *map(browser.find_refused_stack, stacks),
        browser.find_refused_metric(metric),
    ]
    return [reason for reason in reasons if reason]


def _check_live(
    parsed: PlanKeys, stacks: Sequence[Stack], variants: Sequence[Variant], report: Report
) -> None:
    """Report what a live build cannot be combined with."""
    for index, site in enumerate(parsed.sites):
        lacking = [variant.name for variant in variants if not variant.live]
        if site.startswith(LIVE_PREFIX) and (lacking or not variants):
            whose = f"the variant `{lacking[0]}`" if lacking else "the plan"
            report(
                ("sites", index),
                f"`{site}` is no recording, and {whose} has no server for it; give it `live`",
            )
    if not any(variant.live for variant in variants):
        return
    for index, stack in enumerate(stacks):
        if not stack.is_ours:
            report(
                ("stacks", index),
                f"`{stack.name}`: an external server reaches no live build; leave one of them out",
            )
        if stack.has_early_hints:
            report(
                ("stacks", index),
                f"`{stack.name}`: `early_hints` are read from a recording, which a live build is "
                "not; leave one of them out",
            )


def _edit(given: str | dict[str, str], place: tuple[str | int, ...], report: Report) -> str:
    """Return the short form of an edit, given so or as a table; a mistake is reported."""
    try:
        edit = parse_change(given) if isinstance(given, str) else parse_edit(given)
    except ValueError as error:
        report(place, str(error))
        return ""
    if edit is None:
        kind = str(given).partition(":")[0]
        report(place, unknown("edit", kind, [each.name for each in EDITS]))
        return ""
    if parse_change(edit.name) != edit:
        report(place, f"`{edit.name}` can be read in two ways; give `in` as an address of its own")
    return edit.name


def _expand_patterns(
    data: JsonObject,
    site_names: Collection[str] | None,
    matching: Callable[[str], Sequence[str]] | None,
    report: Report,
) -> dict[str, list[int]]:
    """Replace patterns in lists by their matches; returns each new element's index in the file."""

    def sites(pattern: str) -> Sequence[str]:
        if matching is not None:
            return matching(pattern)
        return [] if is_archive_path(pattern) else _matches(pattern, site_names or ())

    def networks(pattern: str) -> Sequence[str]:
        return _matches(pattern, NETWORKS_BY_NAME)

    places: dict[str, list[int]] = {}
    for key, find in (("sites", sites), ("networks", networks)):
        given = data.get(key)
        if not isinstance(given, list):
            continue
        expanded: list[Any] = []
        places[key] = []
        for index, each in enumerate(given):
            found: Sequence[Any] = [each]
            is_text = isinstance(each, str) and not each.startswith(LIVE_PREFIX)
            if is_text and (_PATTERN.search(each) or each.endswith("/")):
                found = [name for name in find(each) if name not in given and name not in expanded]
                if not found:
                    report((key, index), f"the pattern `{each}` matches nothing further")
            expanded += found
            places[key] += [index] * len(found)
        data[key] = expanded
    return places


def _matches(pattern: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if fnmatchcase(name, pattern)]


def _weights(parsed: PlanKeys, networks: Sequence[Network]) -> dict[str, float]:
    given = [table.weight for table in parsed.networks]
    if all(weight is None for weight in given):
        return {}
    return {n.name: 1.0 if w is None else w for n, w in zip(networks, given, strict=True)}


def _resolve(
    tables: Iterable[Any], key: str, resolve_one: Callable[[Any], Any], report: Report
) -> tuple[Any, ...]:
    resolved, names = [], set()
    for index, table in enumerate(tables):
        try:
            one = resolve_one(table)
        except ValueError as error:
            at = (key, index, error.key) if isinstance(error, KeyedError) else (key, index)
            report(at, str(error))
            continue
        if one.name in names:
            report((key, index), f"the name `{one.name}` is used twice; names tell results apart")
        names.add(one.name)
        resolved.append(one)
    return tuple(resolved)


def _check_names(
    parsed: PlanKeys,
    stacks: tuple[Stack, ...],
    site_names: Collection[str] | None,
    metric_names: Collection[str] | None,
    report: Report,
) -> None:
    browser = parsed.browser_settings()
    if refused := browser.refusal():
        report((refused[0],), refused[1])
    for index, stack in enumerate(stacks):
        if reason := browser.find_refused_stack(stack):
            report(("stacks", index), reason)
    metric = full_name(parsed.primary_metric, metric_names or ())
    if metric == SHIFT_METRIC:
        report(("primary_metric",), NO_PRIMARY_SHIFT)
    elif metric_names is not None and not is_user_timing(metric) and metric not in metric_names:
        report(
            ("primary_metric",),
            unknown("metric", parsed.primary_metric, with_short_names(metric_names)),
        )
    elif refused_metric := browser.find_refused_metric(metric):
        report(("primary_metric",), refused_metric)
    for index, site in enumerate(parsed.sites):
        if site in parsed.sites[:index]:
            report(("sites", index), f"site `{site}` is listed twice")
        elif problem := _site_problem(site, site_names):
            report(("sites", index), problem)


def _site_problem(site: str, site_names: Collection[str] | None) -> str:
    """Return what is wrong with the name of a site; empty if nothing is."""
    if not site.isprintable():
        return f"site {site!a} has a character that none can have"
    if is_synthetic(site):
        try:
            parse_synthetic(site)
        except ValueError as error:
            return str(error)
    elif site_names is not None and not is_archive_path(site) and site not in site_names:
        return unknown("site", site, site_names)
    return ""


def _parse_comparisons(
    parsed: PlanKeys, alone: Sequence[Stack], variants: Sequence[Variant], report: Report
) -> tuple[Comparison, ...]:
    """Return the declared comparisons in order; mistakes are reported with their place.

    A stack with an external server may be named without its suffix. With `variants` they are of
    `VARIANT/STACK`, and the reference is one of the variants.
    """
    if len(alone) < len(parsed.stacks):  # some stacks are invalid themselves
        return ()
    stacks = [stack.name for stack in with_variants(alone, variants)]
    what = "VARIANT/STACK" if variants else "stack"
    if parsed.comparisons is None:
        if parsed.reference is None:
            report((), "say what to compare: `comparisons = [[STACK, REFERENCE], ...]`, or "
                       "`reference = STACK` to compare every other stack with it")  # fmt: skip
            return ()
        if variants:
            names = [variant.name for variant in variants]
            reference = _check_known("variant", parsed.reference, names, ("reference",), report)
            return against_variant(reference, variants, alone) if reference else ()
        reference = _check_known(what, parsed.reference, stacks, ("reference",), report)
        return against_one(reference, stacks) if reference else ()
    if parsed.reference is not None:
        report(("reference",), "`comparisons` already says what to compare; drop one of the two")
    found: list[Comparison] = []
    for index, pair in enumerate(parsed.comparisons):
        place = ("comparisons", index)
        stack, reference = (_check_known(what, name, stacks, place, report) for name in pair)
        if not stack or not reference:
            continue
        comparison = Comparison(stack, reference)
        if stack == reference:
            report(place, f"`{stack}` is compared with itself; name two different stacks")
        elif {stack, reference} in [{other.stack, other.reference} for other in found]:
            report(place, f"`{comparison}` is listed twice; drop one")
        found.append(comparison)
    return tuple(found)


def _check_known(
    what: str, name: str, known: Sequence[str], place: tuple[str | int, ...], report: Report
) -> str:
    marked = name + EXTERNAL_SERVER_MARK
    if marked in known:
        return marked
    if name not in known:
        report(place, unknown(what, name, known))
        return ""
    return name
