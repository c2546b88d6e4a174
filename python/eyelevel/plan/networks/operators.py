"""Cellular links by operator and technology: models, which recordings can replace.

`verizon-lte`, `att-3g` and so on, and `verizon-lte-RTT` with another round trip: the four operators
of the corpus of Das 2014 (section 4.3), 3G and LTE. Their recordings may not be shipped, so the
traces are those of the cellular model. Each link has its own mean rates, whose source the table
names, and its own seeds, which `benchmarks/path/cellular_fit.py` chose by comparison with a
recorded link. `recordings` finds a network's recorded traces among the files of a folder, such as
Mahimahi's.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eyelevel.plan.networks.network import Network
from eyelevel.plan.traces.spec import SynthSpec

MODEL = "cellular"
RTT_MS = 120.0
"""Minimum round trip of all links, ms, as in figure 6-1 of Das 2014 (section 6.3), so that
links differ only in their rates. His other ones are 30 and 300 ms.
"""
QUEUE_MS = 1000.0
SECONDS = 60


def made(
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
        return made(name, MODEL, self.mbit_s, rtt_ms, QUEUE_MS, SECONDS, self.seeds)

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


def find_recorded_link(name: str) -> OperatorLink | None:
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
