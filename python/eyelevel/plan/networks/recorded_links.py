"""Find recorded traces of operators' links in a folder such as Mahimahi's `traces`."""

import os
from itertools import islice
from pathlib import Path

from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.networks.operators import LINKS_BY_NAME, find_recorded_link, recordings

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
    named = find_recorded_link(name)
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
