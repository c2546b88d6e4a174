"""Corpora of synthetic sites under one name; each site is generated when it is opened."""

from dataclasses import dataclass

from eyelevel.plan.presets import MANY_SMALL, SINGLE_ORIGIN
from eyelevel.plan.synthetic_site import list_like_sites


@dataclass(frozen=True)
class SyntheticCorpus:
    """A name for a set of synthetic sites."""

    name: str
    purpose: str
    sites: tuple[str, ...]
    """The sites as entries of a plan."""


SYNTHETIC_CORPORA = (
    SyntheticCorpus(
        "das2014",
        "Sites whose objects, bytes and addresses have the ranges and medians of Das's table "
        "4.1; what it does not give is assumed.",
        list_like_sites("das2014"),
    ),
    SyntheticCorpus(
        "httparchive2025",
        "Sites with the HTTP Archive's quantiles of desktop pages of 2025.",
        list_like_sites("httparchive2025"),
    ),
    SyntheticCorpus(
        "single-origin",
        "Six pages of 2 to 64 objects on one origin, where a round trip can be subtracted (Wolsing "
        "et al., table 3).",
        SINGLE_ORIGIN,
    ),
    SyntheticCorpus(
        "many-small",
        "Six pages of 100 to 400 objects of 0.5 to 3 kB on 1 to 20 origins: what multiplexing and "
        "the heads of requests cost.",
        MANY_SMALL,
    ),
)
SYNTHETIC_CORPORA_BY_NAME = {corpus.name: corpus for corpus in SYNTHETIC_CORPORA}
