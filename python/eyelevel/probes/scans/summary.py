"""Summarise a scan's rows: counts, shares and their intervals, without storing rows."""

from collections import Counter
from dataclasses import dataclass

from eyelevel.analysis.stats.binomial import wilson_estimate
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonMapping, JsonObject

FEATURES = {
    "tls13": ("TLS 1.3", "reached"),
    "http2": ("HTTP/2", "reached"),
    "post_quantum": ("post-quantum key exchange", "reached"),
    "quic": ("QUIC, by trying", "resolved"),
    "tls13_and_quic": ("TLS 1.3 and QUIC", "reached"),
    "alt_svc_h3": ("HTTP/3 in Alt-Svc", "reached"),
    "https_record_h3": ("HTTP/3 in an HTTPS record", "resolved"),
    "ipv6": ("IPv6 address", "resolved"),
    "ipv6_reached": ("TCP over IPv6", "resolved"),
}
"""Text of each feature, by field of a row, and the set of names that its share is of."""

TOGETHER = {"tls13_and_quic": ("tls13", "quic")}
"""Features that combine several fields of a row; known if all of them are."""


@dataclass(frozen=True)
class Share:
    """A share of names with its 95 % interval."""

    feature: str
    count: int
    of: int
    of_names: str

    @property
    def share(self) -> Estimate:
        """Return the share with Wilson's interval."""
        return wilson_estimate(self.count, self.of, "no names")

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        return {
            "feature": self.feature,
            "count": self.count,
            "of": self.of,
            "of_names": self.of_names,
            "share": self.share.as_json(),
        }


class Summary:
    """Counts rows one at a time."""

    def __init__(self) -> None:
        self.names = 0
        self.skipped: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.bases: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._known: Counter[str] = Counter()

    def take(self, row: JsonMapping) -> None:
        """Count one row of a scan."""
        self.names += 1
        if row.get("skipped"):
            self.skipped[row["skipped"]] += 1
            return
        if row.get("failure"):
            self.failures[row["failure"]] += 1
        bases = {
            "resolved": row.get("address") or row.get("address6"),
            "reached": row.get("tls_version"),
        }
        self.bases.update(base for base, holds in bases.items() if holds)
        for feature, (_, of_names) in FEATURES.items():
            # A name with an unknown feature is left out of that feature's share.
            values = [row.get(field) for field in TOGETHER.get(feature, (feature,))]
            if bases[of_names] and None not in values:
                self._known[feature] += 1
                self._counts[feature] += all(values)

    def shares(self) -> list[Share]:
        """Return one share per feature."""
        return [
            Share(feature, self._counts[feature], self._known[feature], of_names)
            for feature, (_, of_names) in FEATURES.items()
        ]

    def as_json(self) -> JsonObject:
        """Return the fields as documented in docs/reference/probe.md."""
        return {
            "names": self.names,
            "resolved": self.bases["resolved"],
            "reached": self.bases["reached"],
            "skipped": dict(self.skipped.most_common()),
            "failures": dict(self.failures.most_common()),
            "shares": [share.as_json() for share in self.shares()],
        }
