"""Plans that are shipped with eyelevel, as one table."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.errors import PlanError, unknown
from eyelevel.plan.synthetic_site import list_like_sites


@dataclass(frozen=True)
class Preset:
    """A plan without its sites, runnable on any sites.

    The default sites are `sites`, or if that is empty the first `sites_max` shipped ones (None for
    all). `small`: lines that replace those with the same keys for `--scale small`, a smoke test on
    at most SMALL_SITES_MAX sites.
    """

    name: str
    purpose: str
    sites_max: int | None
    text: str
    small: str = "blocks = 2\n"
    sites: tuple[str, ...] = ()


SMALLEST_EFFECT_REASON = (
    'smallest_effect_reason = "people notice durations that differ by a fifth (Seow 2008, the '
    '20 % rule); a quarter of that nobody sees"\n'
)
"""Reason for the default of 5 %, for presets and `eyelevel ask`."""

SMALL_SITES_MAX = 4

SINGLE_ORIGIN = tuple(
    f"synthetic:objects={objects},object_bytes={size}"
    for objects, size in ((2, 8000), (4, 15000), (8, 15000), (16, 10000), (32, 10000), (64, 5000))
)
"""Sites on a single connection, which isolate the value of a saved round trip. Wikipedia's page
of 2018 has 6 objects, the shipped `plain` 2; the others lie between these and Das's median
page.
"""

MANY_SMALL = tuple(
    f"synthetic:objects={objects},object_bytes={size},origins={origins}"
    for objects, size in ((100, 3000), (200, 1000), (400, 500))
    for origins in (1, 20)
)
"""Sites with many small objects, from the median object of Das's table 4.1 downwards; on one
origin, and on as many as his median site has addresses.
"""

LATE_STYLE = tuple(
    f"synthetic:objects={objects},object_bytes={size},late_style=1"
    for objects, size in ((8, 60_000), (12, 40_000), (16, 40_000), (24, 25_000), (32, 20_000))
)
"""Pages whose style sheet is requested after all images: the worst order of responses."""

SCALES = ("full", "small")

PRESETS: tuple[Preset, ...] = (
    Preset(
        "quickstart",
        "A first look: is QUIC faster than TCP, stock and tuned, on two access networks?",
        2,
        """\
title = "Is QUIC faster than TCP, stock and tuned?"
networks = ["dsl", "lte"]
stacks = ["tcp", "tcp+", "quic"]
comparisons = [["quic", "tcp+"], ["tcp+", "tcp"]]
blocks = 3
""",
    ),
    Preset(
        "wolsing-2019",
        "The study of Wolsing et al. 2019: five stacks over their networks and 3G, 31 runs each.",
        None,
        """\
title = "How much of QUIC's advantage is TCP's tuning?"
networks = ["dsl", "lte", "3g", "da2gc", "mss"]
stacks = ["tcp", "tcp+", "tcp+bbr", "quic", "quic+bbr"]
comparisons = [
    ["quic", "tcp+"],
    ["tcp+", "tcp"],
    ["quic+bbr", "tcp+bbr"],
    ["quic+bbr", "quic"],
    ["tcp+bbr", "tcp+"],
]
blocks = 31
""",
        """\
networks = ["dsl", "da2gc"]
blocks = 2
""",
    ),
    Preset(
        "das-2014",
        "The study of Das 2014: HTTP/1.1, HTTP/2 and QUIC over a grid of 10 rates x 10 RTTs, and "
        "the 24 Mbit/s of figure 5-1. His HTTP/1.1 was cleartext, which is `http1-plain`; `http1` "
        "is the same over TLS. His QUIC was unpaced, with a window of 10 packets of 1200 bytes, "
        "which is `quic+das-2014` and not `quic`. `unshaped` gives his optimal load times. The 500 "
        "sites are synthetic and follow his table 4.1; `--corpus` takes others, or a selection.",
        None,
        """\
title = "Where over rate and round-trip time does QUIC help?"
networks = ["das-[0-9]*", "unshaped"]
stacks = ["http1-plain", "http1", "tcp", "quic+das-2014"]
comparisons = [["quic+das-2014", "http1-plain"], ["tcp", "http1-plain"], ["quic+das-2014", "tcp"]]
blocks = 2
primary_metric = "page_load_time_ms"
""",
        """\
networks = [
    "das-0.6-30", "das-0.6-120", "das-0.6-300",
    "das-3-30", "das-3-120", "das-3-300",
    "das-25-30", "das-25-120", "das-25-300",
]
""",
        sites=list_like_sites("das2014"),
    ),
    Preset(
        "das-2014-cellular",
        "The cellular study of Das 2014, section 6: links whose rate varies, RTT 30, 120, 300 ms. "
        "The links have the mean rates of his two operators, with synthetic courses; "
        "`--traces FOLDER` uses recordings instead. "
        "`quic+das-2014` and `quic+sprout` are unpaced, like his.",
        None,
        """\
title = "Does QUIC help where the rate of a cellular link varies?"
networks = [
    "verizon-lte-30", "verizon-lte", "verizon-lte-300",
    "att-lte-30", "att-lte", "att-lte-300",
]
stacks = ["http1-plain", "tcp", "quic+das-2014", "quic+sprout"]
comparisons = [
    ["quic+das-2014", "http1-plain"],
    ["tcp", "http1-plain"],
    ["quic+das-2014", "tcp"],
    ["quic+sprout", "quic+das-2014"],
]
blocks = 5
primary_metric = "page_load_time_ms"
""",
        """\
networks = ["verizon-lte-30", "verizon-lte-300"]
blocks = 2
""",
    ),
    Preset(
        "das-2014-object",
        "Figure 4-3 of Das 2014: an object of 8 MB over cleartext, TLS and QUIC, unlimited and "
        "at 14 Mbit/s, without delay. His QUIC was unpaced, which is `quic+das-2014`; its limit of "
        "25 Mbit/s and its debug build are not reproduced. The figure shows what encryption and "
        "the server cost.",
        None,
        """\
title = "What do TLS and QUIC cost a single object of 8 MB?"
networks = [
    { name = "unlimited", rate_down_bit_s = "10 Gbit/s", rate_up_bit_s = "10 Gbit/s", \
rtt_ms_min = 0, queue_ms = 200 },
    { name = "14-mbit-s", rate_down_bit_s = "14 Mbit/s", rate_up_bit_s = "14 Mbit/s", \
rtt_ms_min = 0, queue_ms = 200 },
]
stacks = ["http1-plain", "http1", "quic+das-2014"]
reference = "http1-plain"
blocks = 15
primary_metric = "page_load_time_ms"
capture = false
""",
        sites=("synthetic:object_bytes=8000000",),
    ),
    Preset(
        "wolsing-2019-servers",
        "Figure 2 of Wolsing et al. 2019: files of 2 B to 10 MB from both servers over an unshaped "
        "path of 10 ms, to show that the servers do not make the difference.",
        None,
        """\
title = "Do the servers make a difference, whatever the protocol?"
networks = [
    { name = "unshaped-10ms", rate_down_bit_s = "10 Gbit/s", rate_up_bit_s = "10 Gbit/s", \
rtt_ms_min = 10, queue_ms = 200 },
]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = 31
primary_metric = "page_load_time_ms"
capture = false
""",
        sites=tuple(f"synthetic:object_bytes={size}" for size in (2, 10_000, 1_000_000, 10**7)),
    ),
    Preset(
        "wolsing-2019-single-origin",
        "Table 3 of Wolsing et al. 2019: what remains of QUIC's advantage on pages of one origin "
        "once a round trip is subtracted. Their gnu.org and wikipedia.org are not included; "
        "`--corpus` takes recordings of them.",
        None,
        """\
title = "What remains of QUIC's advantage on one origin, less a round trip?"
networks = ["dsl", "lte", "3g", "da2gc", "mss"]
stacks = ["tcp+", "tcp+bbr", "quic", "quic+bbr"]
comparisons = [["quic", "tcp+"], ["quic+bbr", "tcp+bbr"]]
blocks = 31
""",
        """\
networks = ["dsl", "da2gc"]
blocks = 2
""",
        sites=("plain", *SINGLE_ORIGIN),
    ),
    Preset(
        "many-small-objects",
        "Do streams that do not wait for each other help pages with many small objects? Das 2014, "
        "section 5.2, asks this, but his corpus could not tell: its pages with many objects also "
        "had large ones.",
        None,
        """\
title = "Does QUIC help pages of many small objects?"
networks = ["dsl", "lte", "3g", "da2gc"]
stacks = ["http1", "tcp+", "quic"]
comparisons = [["quic", "tcp+"], ["tcp+", "http1"]]
blocks = 15
primary_metric = "page_load_time_ms"
""",
        """\
networks = ["dsl", "da2gc"]
blocks = 2
""",
        sites=MANY_SMALL,
    ),
    Preset(
        "initial-window",
        "How much of a load is the first flight? Initial windows of 4 to 64 packets over both "
        "transports.",
        4,
        """\
title = "What does the initial congestion window change?"
networks = ["dsl", "lte", "da2gc"]
stacks = [
    { name = "tcp-iw10", base = "tcp", initial_window_packets = 10 },
    { name = "tcp-iw4", base = "tcp", initial_window_packets = 4 },
    { name = "tcp-iw16", base = "tcp", initial_window_packets = 16 },
    { name = "tcp-iw32", base = "tcp", initial_window_packets = 32 },
    { name = "tcp-iw64", base = "tcp", initial_window_packets = 64 },
    { name = "quic-iw4", base = "quic", initial_window_packets = 4 },
    { name = "quic-iw10", base = "quic", initial_window_packets = 10 },
    { name = "quic-iw16", base = "quic", initial_window_packets = 16 },
    { name = "quic-iw32", base = "quic", initial_window_packets = 32 },
    { name = "quic-iw64", base = "quic", initial_window_packets = 64 },
]
comparisons = [
    ["tcp-iw4", "tcp-iw10"],
    ["tcp-iw16", "tcp-iw10"],
    ["tcp-iw32", "tcp-iw10"],
    ["tcp-iw64", "tcp-iw10"],
    ["quic-iw4", "quic-iw10"],
    ["quic-iw16", "quic-iw10"],
    ["quic-iw32", "quic-iw10"],
    ["quic-iw64", "quic-iw10"],
    ["quic-iw10", "tcp-iw10"],
]
blocks = 15
""",
        """\
networks = ["dsl"]
blocks = 2
""",
    ),
    Preset(
        "certificate-chains",
        "What do long certificate chains cost? Chains below and above what a first flight of 10 "
        "packets and its successor hold (Chou and Cao 2026), as after a change to post-quantum "
        "signatures.",
        None,
        """\
title = "What do long certificate chains cost?"
networks = [
    { name = "100ms", rate_down_bit_s = "100 Mbit/s", rate_up_bit_s = "100 Mbit/s", \
rtt_ms_min = 100, queue_ms = 100 },
]
stacks = [
    { name = "tcp-2kb", base = "tcp", certificate_chain_bytes = 2000 },
    { name = "tcp-8kb", base = "tcp", certificate_chain_bytes = 8000 },
    { name = "tcp-16kb", base = "tcp", certificate_chain_bytes = 16000 },
    { name = "tcp-48kb", base = "tcp", certificate_chain_bytes = 48000 },
    { name = "quic-2kb", base = "quic", certificate_chain_bytes = 2000 },
    { name = "quic-16kb", base = "quic", certificate_chain_bytes = 16000 },
]
comparisons = [
    ["tcp-8kb", "tcp-2kb"],
    ["tcp-16kb", "tcp-8kb"],
    ["tcp-48kb", "tcp-16kb"],
    ["quic-16kb", "quic-2kb"],
]
blocks = 5
primary_metric = "time_to_first_byte_ms"
capture = false
""",
        sites=SINGLE_ORIGIN,
    ),
    Preset(
        "semantic-order",
        "Does it matter in which order a server sends its responses? Pages whose style sheet is "
        "requested last, with servers that obey the browser's priorities and with servers that "
        "send all responses in turn (Rizvi 2026).",
        None,
        """\
title = "Does the order of responses matter?"
networks = ["dsl", "3g"]
stacks = [
    "tcp+",
    { name = "tcp+in-turn", base = "tcp+", priorities = false },
    "quic",
    { name = "quic+in-turn", base = "quic", priorities = false },
]
comparisons = [["tcp+", "tcp+in-turn"], ["quic", "quic+in-turn"]]
blocks = 5
primary_metric = "first_contentful_paint_ms"
""",
        """\
networks = ["3g"]
blocks = 2
""",
        sites=LATE_STYLE,
    ),
    Preset(
        "packet-pacing",
        "Does a page load sooner if its packets are spread over the round trip? Das 2014, "
        "section 7.2, left this for later: QUIC and tuned TCP, each paced and unpaced, over short "
        "and long queues.",
        4,
        """\
title = "What does pacing change?"
networks = ["dsl", "lte", "3g", "da2gc"]
stacks = [
    "tcp+",
    { name = "tcp+unpaced", base = "tcp+", pacing = false },
    "quic",
    { name = "quic+unpaced", base = "quic", pacing = false },
]
comparisons = [["quic", "quic+unpaced"], ["tcp+", "tcp+unpaced"]]
blocks = 15
""",
        """\
networks = ["dsl"]
blocks = 2
""",
    ),
)

PRESETS_BY_NAME: dict[str, Preset] = {preset.name: preset for preset in PRESETS}


def preset_text(
    name: str, shipped: Sequence[str], sites: Sequence[str] = (), scale: str = "full"
) -> str:
    """Return the TOML text of a preset on `sites`, by default on the first `shipped` ones.

    `scale`: one of SCALES. Raises `PlanError` for an unknown preset or scale, and if no site is
    given or shipped.
    """
    if name not in PRESETS_BY_NAME:
        raise PlanError([unknown("plan", name, PRESETS_BY_NAME)])
    if scale not in SCALES:
        raise PlanError([unknown("scale", scale, SCALES)])
    preset = PRESETS_BY_NAME[name]
    chosen = list(sites) or list(preset.sites) or list(shipped[: preset.sites_max])
    text = preset.text
    if scale == "small":
        chosen, text = chosen[:SMALL_SITES_MAX], _replace_keys(text, preset.small)
    if not chosen:
        raise PlanError([f"the plan `{name}` needs a site; name a recorded one"])
    quoted = ", ".join(_toml_string(site) for site in chosen)
    return f"sites = [{quoted}]\n{SMALLEST_EFFECT_REASON}{text}"


def with_networks(text: str, networks: Sequence[str]) -> str:
    """Return a preset's text with its networks replaced by these, each as TOML."""
    return _replace_keys(
        text, "".join(["networks = [\n", *(f"    {n},\n" for n in networks), "]\n"])
    )


def _replace_keys(text: str, changes: str) -> str:
    """Return `text` with the assignments in `changes` in place of those with the same keys."""
    keys = {
        line.split(" =")[0] for line in changes.splitlines() if " = " in line and line[0] != " "
    }
    kept, skipping = [], False
    for line in text.splitlines():
        if " = " in line and line[0] not in " ]":
            skipping = line.split(" =")[0] in keys
        if not skipping:
            kept.append(line)
    return "\n".join([*kept, changes])


def _toml_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
