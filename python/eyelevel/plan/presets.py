"""Plans that come with the project, as one table."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.nearest import unknown
from eyelevel.plan.errors import PlanError


@dataclass(frozen=True)
class Preset:
    """A plan without its sites: it runs on any; by default on the first `sites_max` shipped ones.

    `sites_max` None means all of them.
    """

    name: str
    purpose: str
    sites_max: int | None
    text: str


PRESETS: tuple[Preset, ...] = (
    Preset(
        "quickstart",
        "A first look: is QUIC faster than TCP, stock and tuned, on two access networks?",
        2,
        """\
title = "Is QUIC faster than TCP, stock and tuned?"
networks = ["dsl", "lte"]
stacks = ["tcp", "tcp+", "quic"]
reference = "tcp"
blocks = 3
""",
    ),
    Preset(
        "wolsing-2019",
        "The study of Wolsing et al. 2019: five stacks, their networks and 3G, 31 runs each.",
        None,
        """\
title = "How much of QUIC's advantage is TCP's tuning?"
networks = ["dsl", "lte", "3g", "da2gc", "mss"]
stacks = ["tcp", "tcp+", "tcp+bbr", "quic", "quic+bbr"]
reference = "tcp"
blocks = 31
""",
    ),
)

PRESETS_BY_NAME: dict[str, Preset] = {preset.name: preset for preset in PRESETS}


def preset_text(name: str, shipped: Sequence[str], sites: Sequence[str] = ()) -> str:
    """The TOML text of a preset on `sites`, or without any on the first of the `shipped` ones.

    Raises PlanError for an unknown preset, and where no site is given and none is shipped.
    """
    if name not in PRESETS_BY_NAME:
        raise PlanError([unknown("plan", name, PRESETS_BY_NAME)])
    preset = PRESETS_BY_NAME[name]
    chosen = list(sites) or list(shipped[: preset.sites_max])
    if not chosen:
        raise PlanError([f"the plan `{name}` needs a site; name a recorded one"])
    quoted = ", ".join(_toml_string(site) for site in chosen)
    return f"sites = [{quoted}]\n{preset.text}"


def _toml_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
