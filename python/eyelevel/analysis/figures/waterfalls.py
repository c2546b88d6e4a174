"""The objects of a typical pair of loads, in time."""

from urllib.parse import urlsplit

import polars as pl

from eyelevel.analysis.figures.filmstrips import typical_loads
from eyelevel.analysis.study import Contents

OBJECTS_MAX = 80  # of a load; what comes later is rarely what people wait for


def pair_objects(contents: Contents) -> pl.DataFrame:
    """The first site on its slowest network: the typical loads of the reference and the last stack.

    An object waits from its start to its first byte, and is received until its end.
    """
    typical = typical_loads(contents)
    stacks = (contents.stacks[0], contents.stacks[-1])
    slow = sorted(contents.plan["networks"], key=lambda network: -float(network["rtt_ms_min"]))
    cells = [(site, network["name"]) for site in contents.sites[:1] for network in slow]
    with_both = [cell for cell in cells if set(stacks) <= set(typical.get(cell, ()))]
    site, network = with_both[0] if with_both else ("", "")
    rows = []
    for stack in dict.fromkeys(stacks) if with_both else ():
        objects = contents.trial(typical[site, network][stack]["hash"]).record["objects"]
        known = [
            item
            for item in objects
            if item["from"] == "network" and None not in (item["started_ms"], item["finished_ms"])
        ]
        known.sort(key=lambda item: item["started_ms"])
        for place, item in enumerate(known[:OBJECTS_MAX]):
            start, end = item["started_ms"] / 1e3, item["finished_ms"] / 1e3
            first = end if item["response_ms"] is None else item["response_ms"] / 1e3
            parts = urlsplit(item["url"])
            name = f"{parts.netloc}{parts.path}"[-60:]
            load = f"{stack}, {site} on {network}"
            rows += [
                (load, place, name, "waiting", start, first),
                (load, place, name, "receiving", first, end),
            ]
    names = ["load", "place", "name", "phase", "start_s", "end_s"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
