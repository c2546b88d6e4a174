"""Explain which networks, stacks, sites or frames a figure lacks in a run."""

from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.report.figures.cellular import varying_links

_GRID = (
    "networks with at least two rates and two round-trip times, alike in everything else, such "
    "as das-3-30, das-3-120, das-25-30 and das-25-120"
)
_VARYING = "a network whose rate varies, such as das-verizon-120"
_NETWORKS = {
    "grid-cdf": _GRID,
    "heat-map": _GRID,
    "cellular-cdf": _VARYING,
    "congestion-cdf": _VARYING,
    "cellular-quantiles": _VARYING,
    "trace-rate": "a network whose rate follows a generated trace, such as das-verizon-120 (a "
    "recorded trace is not part of a run: see eyelevel trace info FILE)",
    "break-even": "networks that differ in two of loss, round-trip time and rate",
    "break-even-points": "networks that differ in two of loss, round-trip time and rate, and a "
    "gain that crosses zero",
}
_STACKS = {
    "single-origin": "a site with one origin, a stack over QUIC, and one over TCP with TLS 1.3",
    "congestion-cdf": "two stacks of one protocol with different congestion controllers, such "
    "as quic+das-2014 and quic+sprout",
}
_SITES = {
    "single-object": "sites of one object, such as synthetic:object_bytes=1000000",
    "attributes": "5 sites that differ in their attributes and have gains on all networks",
}
_OTHER = {
    "progress": "pictures of the loads of all stacks in a block (capture)",
    "progress-typical": "pictures of loads (capture)",
    "disagreement": "a site whose intervals exclude zero on both sides, and pictures of it",
    "disagreements": "a site whose intervals exclude zero on both sides",
    "waterfall": "loads with objects fetched over the network",
    "downlink": "records with a timeline of the path, without cross traffic",
    "downlink-medians": "records with a timeline of the path, without cross traffic",
}
_OF_METRIC = {
    "grid-cdf", "heat-map", "cellular-cdf", "congestion-cdf", "cellular-quantiles", "break-even",
    "break-even-points", "reproducibility", "origins", "objects", "bytes", "attributes", "extremes",
}  # fmt: skip
"""The figures that show a single metric."""


def why_not(name: str, contents: StudyResults) -> str:
    """Return in one line what figure or table `name` needs and the run lacks."""
    kept = contents.blocks.kept
    if kept.is_empty():
        return "no block of the run is complete"
    if name in _OF_METRIC and kept[contents.drawn_metric].null_count() == kept.height:
        return f"no load has {title_of(contents.drawn_metric)}"
    varies = bool(varying_links(contents.planned.networks).height)
    for needs, kind, there in (
        (_NETWORKS, "networks", contents.networks),
        (_STACKS, "stacks", contents.stacks),
        (_SITES, "sites", contents.sites),
    ):
        if name in needs and not (varies and needs[name] == _VARYING):
            more = ", ..." if len(there) > 6 else ""
            return f"it needs {needs[name]}; the run's {kind}: {', '.join(there[:6])}{more}"
    return f"it needs {_OTHER.get(name, 'comparisons of complete blocks')}"
