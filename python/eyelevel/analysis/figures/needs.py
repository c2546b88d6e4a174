"""What each figure needs of a run, and so why one could not be made: missing networks, stacks,
sites, pictures."""

from eyelevel.analysis.study import Contents

_NETWORKS = {
    "grid-cdf": "networks of at least two rates and two round-trip times, as das-3-30",
    "heat-map": "networks of at least two rates and two round-trip times, as das-3-30",
    "cellular-cdf": "a network whose rate varies, as das-verizon-120",
    "trace-rate": "a network with a made course, as das-verizon-120",
    "break-even": "networks that differ in two of loss, round-trip time and rate",
    "break-even-points": "networks that differ in two of loss, round-trip time and rate, and a "
    "gain that crosses zero",
    "congestion-cdf": "a network whose rate varies, and two stacks of one protocol with different "
    "congestion controllers, as quic+das-2014 and quic+sprout",
}
_STACKS = {"single-origin": "a site of one origin, a stack over QUIC and one of TCP with TLS 1.3"}
_SITES = {
    "single-object": "sites of one object, as synthetic:object_bytes=1000000",
    "attributes": "5 sites that differ in their attributes and have gains on all networks",
}
_OTHER = {
    "progress": "pictures of all stacks' loads of a block (capture)",
    "progress-typical": "pictures of loads (capture)",
    "disagreement": "a site with intervals that exclude zero on both sides, and pictures of it",
    "disagreements": "a site with intervals that exclude zero on both sides",
    "waterfall": "loads with objects from the network",
    "downlink": "records with a timeline of the path, without cross traffic",
    "downlink-medians": "records with a timeline of the path, without cross traffic",
}


def why_not(name: str, contents: Contents) -> str:
    """What figure or table `name` needs, and what the run has of that, in one line."""
    if contents.blocks.kept.is_empty():
        return "no block of the run is complete"
    for needs, kind, there in (
        (_NETWORKS, "networks", contents.networks),
        (_STACKS, "stacks", contents.stacks),
        (_SITES, "sites", contents.sites),
    ):
        if name in needs:
            more = ", ..." if len(there) > 6 else ""
            return f"it needs {needs[name]}; the run's {kind}: {', '.join(there[:6])}{more}"
    return f"it needs {_OTHER.get(name, 'comparisons of complete blocks')}"
