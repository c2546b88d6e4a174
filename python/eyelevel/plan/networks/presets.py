"""The shipped networks, as one table of groups.

Find recorded traces of operators' links in a folder such as Mahimahi's `traces`.

Cellular links by operator and technology: models, which recordings can replace.

`verizon-lte`, `att-3g` and so on, and `verizon-lte-RTT` with another round trip: the four operators
of the corpus of Das 2014 (section 4.3), 3G and LTE. Their recordings may not be shipped, so the
traces are those of the cellular model. Each link has its own mean rates, whose source the table
names, and its own seeds, which `benchmarks/path/cellular_fit.py` chose by comparison with a
recorded link. `recordings` finds a network's recorded traces among the files of a folder, such as
Mahimahi's.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from eyelevel.base.errors import NetworkError, unknown
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.networks.network import Network, loss_of_each_direction
from eyelevel.plan.traces.spec import SynthSpec

MODEL = "cellular"
RTT_MS = 120.0
"""Minimum round trip of all links, ms, as in figure 6-1 of Das 2014 (section 6.3), so that
links differ only in their rates. His other ones are 30 and 300 ms.
"""
QUEUE_MS = 1000.0
SECONDS = 60


def make_cellular(
    name: str,
    model: str,
    mbit_s: tuple[float, float],
    rtt_ms: float,
    queue_ms: float,
    duration_s: int,
    seeds: tuple[int, int],
) -> Network:
    """Return a network with traces of a model, with mean rates and seeds for down and up."""
    down, up = (round(each * 1e6) for each in mbit_s)
    return Network(
        name,
        down,
        up,
        rtt_ms,
        queue_ms,
        synth_down=SynthSpec(model, down, duration_s, seed=seeds[0]),
        synth_up=SynthSpec(model, up, duration_s, seed=seeds[1]),
    )


@dataclass(frozen=True)
class OperatorLink:
    """One operator's link with one technology; rates and seeds are (down, up).

    `source`: source of the rates. `likeness`: the recording that the seeds approximate best; `own`:
    whether it is of this operator and technology.
    """

    name: str
    mbit_s: tuple[float, float]
    source: str
    seeds: tuple[int, int]
    likeness: str
    own: bool = False

    @property
    def operator(self) -> str:
        """Prefix of the operator's recording file names."""
        return self.name.partition("-")[0]

    @property
    def technology(self) -> str:
        """Technology: `3g` or `lte`."""
        return self.name.partition("-")[2]

    def model(self, rtt_ms: float = RTT_MS) -> Network:
        """Return the modelled network with this minimum round trip."""
        name = self.name if rtt_ms == RTT_MS else f"{self.name}-{rtt_ms:.10g}"
        return make_cellular(name, MODEL, self.mbit_s, rtt_ms, QUEUE_MS, SECONDS, self.seeds)

    def course(self) -> str:
        """Return the recording by which the seeds were chosen."""
        return self.likeness if self.own else f"{self.likeness}, of another operator: assumed"


DAS = "Das 2014, section 6.3"
MAHIMAHI = "about the mean of Mahimahi's recording {}"
ROOTMETRICS = (
    "RootMetrics, second half of 2012, downloads and uploads in US markets (as reported by "
    "Brighthand and the Seattle Times, March 2013): {}"
)
PCWORLD = (
    "PCWorld and Novarum, December 2009 and January 2010, downloads and uploads in 13 US cities"
)
_LTE, _ATT_LTE, _3G = "Verizon-LTE-short", "ATT-LTE-driving-2016", "TMobile-UMTS-driving"

LINKS: tuple[OperatorLink, ...] = (
    OperatorLink("verizon-lte", (19.1, 9.1), DAS, (495, 214), _LTE, own=True),
    OperatorLink(
        "verizon-3g", (0.52, 0.84), MAHIMAHI.format("Verizon-EVDO-driving"), (33, 438), _3G
    ),
    OperatorLink("att-lte", (6.7, 1.1), DAS, (174, 14), _ATT_LTE, own=True),
    OperatorLink("att-3g", (4.3, 1.1), ROOTMETRICS.format("AT&T without LTE"), (341, 189), _3G),
    OperatorLink("tmobile-lte", (13, 2.3), MAHIMAHI.format("TMobile-LTE-driving"), (5, 726), _LTE),
    OperatorLink(
        "tmobile-3g", (2.02, 0.94), f"mean of Mahimahi's recording {_3G}", (402, 540), _3G, own=True
    ),
    OperatorLink(
        "sprint-lte", (10.3, 4.4), ROOTMETRICS.format("Sprint with LTE"), (552, 843), _ATT_LTE
    ),
    OperatorLink("sprint-3g", (0.795, 0.396), PCWORLD, (620, 248), _3G),
)
LINKS_BY_NAME = {link.name: link for link in LINKS}

_NAME = re.compile(rf"({'|'.join(LINKS_BY_NAME)})(?:-(\d{{1,5}}(?:\.\d{{1,3}})?))?", re.ASCII)
RTTS_MS = (0.1, 10_000.0)


def link_of(name: str) -> tuple[OperatorLink, float] | None:
    """Return the link and the round trip, ms, that a network's name denotes.

    Returns None for other names.
    """
    found = _NAME.fullmatch(name)
    rtt_ms = float(found[2]) if found and found[2] else RTT_MS
    if found is None or not RTTS_MS[0] <= rtt_ms <= RTTS_MS[1]:
        return None
    return LINKS_BY_NAME[found[1]], rtt_ms


_OF_DAS = re.compile(r"das-(verizon|att)-[0-9.]+", re.ASCII)


def _find_recorded_link(name: str) -> OperatorLink | None:
    """Return the link whose recordings stand for the network `name`, or None.

    Das's two networks, named by their round trips, are the LTE links of their operators.
    """
    if of_das := _OF_DAS.fullmatch(name):
        return LINKS_BY_NAME[f"{of_das[1]}-lte"]
    found = link_of(name)
    return found[0] if found else None


# File names of Mahimahi and of Das's corpus: Verizon-LTE-short.down, TMobile-UMTS-driving.up.
_RECORDING = re.compile(
    r"(verizon|at&?t|t-?mobile|sprint)[-_ ](lte|4g|3g|umts|hspa\+?|evdo|ehrpd)(?:[-_ .].*)?",
    re.IGNORECASE | re.ASCII,
)
_IS_LTE = frozenset({"lte", "4g"})


def recordings(files: Iterable[str]) -> Mapping[str, tuple[str, str]]:
    """Return the recorded files (down, up) by link name, for links with both files.

    Of several recordings of a link the first by name is taken; of Mahimahi's these are the ones
    recorded while driving, for Sprout.
    """
    stems: dict[str, dict[str, str]] = {}
    for file in files:
        stem, dot, way = file.rpartition(".")
        if dot and way.lower() in ("down", "up"):
            stems.setdefault(stem, {})[way.lower()] = file
    found: dict[str, tuple[str, str]] = {}
    for stem, ways in sorted(stems.items()):
        words = _RECORDING.fullmatch(stem)
        if words and len(ways) == 2:
            operator = re.sub("[^a-z]", "", words[1].lower())
            technology = "lte" if words[2].lower() in _IS_LTE else "3g"
            found.setdefault(f"{operator}-{technology}", (ways["down"], ways["up"]))
    return found


PACKET_BYTES = 1500


@dataclass(frozen=True)
class NetworkGroup:
    """Networks of one source."""

    name: str
    source: str
    networks: tuple[Network, ...]


def _paper(
    name: str, down_mbit_s: float, up_mbit_s: float, rtt_ms: float, loss_two_way: float, queue: int
) -> Network:
    loss = loss_of_each_direction(loss_two_way)
    down, up = round(down_mbit_s * 1e6), round(up_mbit_s * 1e6)
    return Network(name, down, up, rtt_ms, queue, loss, loss)


# Down and up in Mbit/s, minimum RTT in ms, two-way loss, queue in ms.
_WOLSING = (
    _paper("dsl", 25, 5, 24, 0, 12),
    _paper("lte", 10.5, 2.8, 74, 0, 200),
    _paper("3g", 3.54, 3.54, 94, 0.00048, 200),
    _paper("da2gc", 0.468, 0.468, 262, 0.033, 200),
    _paper("mss", 1.89, 1.89, 760, 0.06, 200),
)

# Das 2014, caption of figure 5-2. The axes of its maps have 2.9, 8.6 and 14.6 for 3, 8 and 14: even
# steps on a logarithmic scale, which the caption rounds.
DAS_RATES_MBIT_S = (0.2, 0.3, 0.6, 1, 1.7, 3, 5, 8, 14, 25)
DAS_RTTS_MS = (30, 60, 90, 120, 150, 180, 210, 240, 270, 300)


def _das(rate_mbit_s: float, rtt_ms: float) -> Network:
    # One bandwidth-delay product, but at least two full packets: at 0.2 Mbit/s and 30 ms a single
    # packet is already more than the product.
    rate_bit_s = round(rate_mbit_s * 1e6)
    name = f"das-{rate_mbit_s:.10g}-{rtt_ms:.10g}"
    return Network(name, rate_bit_s, rate_bit_s, rtt_ms, rtt_ms, queue_bytes_min=2 * PACKET_BYTES)


DAS_CAPTION_MBIT_S = 24
"""Rate of Das 2014, caption of figure 5-1: 1, 14 and 24 Mbit/s; his grid has 25 instead of the
last.
"""
DAS_CAPTION_RTTS_MS = (30, 120, 300)

# Das 2014, section 6.3: the mean rates of his two recorded links, down and up in Mbit/s, with three
# minimum RTTs. His recordings may not be shipped, so the courses are a model's with the same means,
# a separate one for each direction of each operator (seeds down and up): scaled from one, the two
# operators would be one link at two rates.
DAS_CELLULAR_MBIT_S = {"verizon": (19.1, 9.1), "att": (6.7, 1.1)}
DAS_CELLULAR_SEEDS = {"verizon": (1, 2), "att": (3, 4)}
DAS_CELLULAR_RTTS_MS = (30, 120, 300)
CELLULAR_S = 60
CELLULAR_QUEUE_MS = 1000


def _webpagetest(name: str, down_mbit_s: float, up_mbit_s: float, rtt_ms: int) -> Network:
    # Its profiles do not specify queues: 200 ms, as in most networks of the paper.
    return Network(name, round(down_mbit_s * 1e6), round(up_mbit_s * 1e6), rtt_ms, 200)


OPERATOR = "operator"
"""Name of the group of operators' links."""
UNSHAPED = "unshaped"
"""Name of the network without any limit."""

GROUPS: tuple[NetworkGroup, ...] = (
    NetworkGroup(
        "wolsing",
        "Wolsing et al. 2019, table 2, and their slides; they give queues in time and two-way loss",
        _WOLSING,
    ),
    NetworkGroup(
        "wpt",
        "WebPageTest, www/settings/connectivity.ini.sample (its 3G is wpt-3g here); the queue of "
        "200 ms is ours",
        (
            _webpagetest("cable", 5, 1, 28),
            _webpagetest("fios", 20, 5, 4),
            _webpagetest("4g", 9, 9, 170),
            _webpagetest("wpt-3g", 1.6, 0.768, 300),
            _webpagetest("3gfast", 1.6, 0.768, 150),
            _webpagetest("3gslow", 0.4, 0.4, 400),
        ),
    ),
    NetworkGroup(
        "modern",
        "starlink: Ookla's US medians of the last quarter of 2021, with the satellite model's "
        "course; "
        "5g: Ookla's medians of the fastest US operator in the second quarter of 2023 (the rate up "
        "is over all its technologies), with the cellular model's course; the queue of 200 ms is "
        "ours",
        (
            make_cellular("starlink", "satellite", (105, 12), 40, 200, 60, (1, 2)),
            make_cellular("5g", "cellular", (220, 12.2), 51, 200, 30, (1, 2)),
        ),
    ),
    NetworkGroup(
        "cellular",
        "Das 2014, section 6.3: the means of his recorded links. The courses come from the "
        "cellular model, with seeds of its own for each operator (1 and 2, 3 and 4), so only the "
        "means are the operators'; the queue of 1 s, which hardly ever drops, is ours. verizon-lte "
        "and att-lte are these links with fitted courses, and can use recordings (traces)",
        tuple(
            make_cellular(
                f"das-{n}-{rtt}",
                "cellular",
                rates,
                rtt,
                CELLULAR_QUEUE_MS,
                CELLULAR_S,
                DAS_CELLULAR_SEEDS[n],
            )
            for n, rates in DAS_CELLULAR_MBIT_S.items()
            for rtt in DAS_CELLULAR_RTTS_MS
        ),
    ),
    NetworkGroup(
        OPERATOR,
        "models of the links of four US operators, of which Das 2014 had recordings (section 4.3); "
        "the round trip is that of his figure 6-1 (verizon-lte-300 has another one); the queue of "
        "1 s, which hardly ever drops, is ours",
        tuple(link.model() for link in LINKS),
    ),
    NetworkGroup(
        "unshaped",
        "Das 2014, figure 5-1: how long a load takes on a link that does not limit it",
        (Network(UNSHAPED, 10**9, 10**9, 0, 100),),
    ),
    NetworkGroup(
        "das-24",
        "Das 2014, figure 5-1: the rate in its caption that his grid lacks; queues as in the grid",
        tuple(_das(DAS_CAPTION_MBIT_S, rtt) for rtt in DAS_CAPTION_RTTS_MS),
    ),
    NetworkGroup(
        "das",
        "Das 2014, figure 5-2: das-RATE-RTT in Mbit/s and ms, the same down and up; the rates are "
        "those of the caption (the axes of the maps have 2.9, 8.6 and 14.6 for 3, 8 and 14); the "
        "queue is one bandwidth-delay product, at least two full packets",
        tuple(_das(rate, rtt) for rate in DAS_RATES_MBIT_S for rtt in DAS_RTTS_MS),
    ),
)

NETWORKS: tuple[Network, ...] = tuple(n for group in GROUPS for n in group.networks)
NETWORKS_BY_NAME: dict[str, Network] = {network.name: network for network in NETWORKS}


_OF_GRID = re.compile(r"das-(\d{1,6}(?:\.\d{1,6})?)-(\d{1,5}(?:\.\d{1,3})?)", re.ASCII)
_RATES_MBIT_S = (0.001, 100_000.0)
_RTTS_MS = (0.1, 10_000.0)


def get_network(name: str) -> Network | None:
    """Return the network of this name, or None.

    Besides presets there are cells das-RATE-RTT at any rate (Mbit/s) and round trip (ms), and
    operators' links at any round trip, such as verizon-lte-300. Names are normalised as in the
    tables: das-1.70-30 is das-1.7-30, verizon-lte-120 is verizon-lte.
    """
    if name in NETWORKS_BY_NAME:
        return NETWORKS_BY_NAME[name]
    if (named := link_of(name)) is not None:
        link, rtt_ms = named
        return link.model(rtt_ms)
    found = _OF_GRID.fullmatch(name)
    if found is None:
        return None
    rate_mbit_s, rtt_ms = float(found[1]), float(found[2])
    within = (
        _RATES_MBIT_S[0] <= rate_mbit_s <= _RATES_MBIT_S[1] and _RTTS_MS[0] <= rtt_ms <= _RTTS_MS[1]
    )
    return _das(rate_mbit_s, rtt_ms) if within else None


def why_none(name: str, known: Iterable[str] = tuple(NETWORKS_BY_NAME)) -> str:
    """Return why `get_network` knows no such name: a cell's bounds, or similar names."""
    if _OF_GRID.fullmatch(name) is None:
        return unknown("network", name, known)
    return (
        f"`{name}`: das-RATE-RTT takes a rate from {_RATES_MBIT_S[0]:g} to {_RATES_MBIT_S[1]:.0f} "
        f"Mbit/s and a round trip from {_RTTS_MS[0]:g} to {_RTTS_MS[1]:.0f} ms"
    )


def find_network(name: str) -> Network:
    """Return the network of a name as `get_network` does.

    Raises `NetworkError` if there is none.
    """
    if (network := get_network(name)) is None:
        raise NetworkError(
            f"--network: {why_none(name)} (all: eyelevel list networks; das-RATE-RTT is one at "
            "any Mbit/s and ms)"
        )
    return network


FILES_MAX = 10_000
"""Maximum number of files examined in a folder; Mahimahi's has about twenty."""
BELOW = "traces"
"""Folder of traces in a checkout of Mahimahi."""


def find_recorded_pair(folder: str, name: str) -> tuple[str, str]:
    """Return the files (down, up) that a folder has for the link `name`.

    The folder is relative to the working directory; for a checkout of Mahimahi its traces are
    found. Raises `ValueError` if there are none, with the available links and a remedy.
    """
    if not folder:
        raise ValueError("it names no folder; name one with recorded traces")
    named = _find_recorded_link(name)
    if named is None:
        known = ", ".join(LINKS_BY_NAME)
        raise ValueError(
            f"recordings in {excerpt(folder)} for `{excerpt(name)}`: they are only for operators' "
            f"links ({known}); other networks take traces by trace_down and trace_up"
        )
    link = named.name
    seen: list[str] = []
    for place in (Path(folder), Path(folder) / BELOW):
        found = recordings(_files(place, must_be=place == Path(folder)))
        if link in found:
            down, up = found[link]
            return str(place / down), str(place / up)
        seen += [f"{each} ({down.rpartition('.')[0]})" for each, (down, _) in found.items()]
    there = f"it has {', '.join(map(excerpt, seen))}" if seen else "it has none of any operator"
    raise ValueError(
        f"{excerpt(folder)}: no recording of `{link}`, which is a pair of files such as "
        f"{_example(link)}.down and {_example(link)}.up; {there}. Name another folder, or leave "
        "it out to use the model"
    )


def _files(place: Path, *, must_be: bool) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [entry.name for entry in islice(entries, FILES_MAX) if entry.is_file()]
    except OSError as error:
        if not must_be:
            return []
        raise ValueError(
            f"{excerpt(str(place))}: {error.strerror}; name a folder with recorded traces"
        ) from error


def _example(link: str) -> str:
    operator, technology = link.split("-")
    operator = {"att": "ATT", "tmobile": "TMobile"}.get(operator, operator.capitalize())
    return f"{operator}-{technology.upper()}-NAME"
