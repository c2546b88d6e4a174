"""Check a plan from a `plan.json` by the rules of a plan file's parser.

A `plan.json` may be untrusted. Its values have passed their types and bounds; these are the checks
between values, and of what would reach beyond the document: names, which are used in paths and
tables, and files of stages, which must be given as digests.
"""

import re
from collections.abc import Iterator, Sequence

from eyelevel.plan.file.model import NAME_PATTERN
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.stages import find_unnamed_file
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import stack_alone, variant_of

_NAME = re.compile(NAME_PATTERN.replace("{0,63}", "{0,95}"))
"""Pattern of a stack's or network's name, including the suffixes of twins."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


def refuse_mistakes(plan: Plan) -> None:
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
    for place, network in enumerate(networks):
        for reason in _of_network(network):
            yield f"networks.{place}", reason
    if refused := plan.browser.refusal():
        yield f"browser.{refused[0]}", refused[1]
    for place, stack in enumerate(stacks):
        if why := stack.refusal() or plan.browser.find_refused_stack(stack):
            yield f"stacks.{place}", why
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
    for place, asked in enumerate(plan.comparisons):
        if not {asked.stack, asked.reference} <= stack_names:
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
