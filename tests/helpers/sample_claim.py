"""Claims about page loads, and the sites that simulated studies of them load."""

from eyelevel.replication.claims import Claim

SITES = ["startup", "dashboard", "plain", "agency", "api", "blog"]


def sample_claim(**fields: object) -> Claim:
    """Return a claim that QUIC is 9 % sooner than tuned TCP on `dsl`, with these fields changed."""
    known: dict[str, object] = {
        "id": "X1",
        "place": "section 1",
        "claim": "It is sooner.",
        "scope": "population",
        "rule": "number",
        "comparisons": ("quic/tcp+",),
        "networks": ("dsl",),
        "number": -0.09,
    }
    return Claim(**known | fields)  # type: ignore[arg-type]
