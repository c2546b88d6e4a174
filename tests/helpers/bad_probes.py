"""Bad lists and rows of scans and probes: by name, what reads each."""

from bad_changes import Kind, flipped, of_lines
from bad_samples import THESIS, listed_rows, parquet, probe_rows, scan_rows, texts

KINDS: dict[str, Kind] = {
    "scan list": Kind(
        ("scan", "FILE", "--out", "OUT"), texts("1,a.example\n2,b.example\n\nc.example\n"),
        flipped, "names.csv",
    ),
    "scan rows": Kind(
        ("scan", "NAMES", "--names-with", "tls1.3,quic", "--out", "FILE"), scan_rows, of_lines,
        "rows.jsonl",
    ),
    "scan rows gone on with": Kind(
        ("scan", "NAMES", "--resume", "--out", "FILE"), scan_rows, of_lines, "rows.jsonl"
    ),
    "opt-out list": Kind(
        ("scan", "NAMES", "--opt-out", "FILE", "--out", "OUT"),
        texts("a.example\n*.b.example\n192.0.2.0/24 # c\n2001:db8::/32\n"), flipped, "optout",
    ),
    "probe list": Kind(
        ("probe", "measure", "--list", "FILE", "--out", "OUT"),
        texts("# a\na.example\nhttps://b.example:8443/x?y # b\n\n[2001:db8::1]:444\n"),
        flipped, "hosts.txt",
    ),
    "probe rows gone on with": Kind(
        ("probe", "measure", "--list", "NAMES", "--resume", "--out", "FILE"), listed_rows, of_lines,
        "rows.jsonl",
    ),
    "probe rows": Kind(("probe", "report", "FILE"), probe_rows, of_lines, "rows.jsonl"),
    "probe table": Kind(("probe", "report", "FILE"), parquet, flipped, "rows.parquet"),
    "table of CDNs": Kind(
        ("probe", "report", "ROWS", "--cdn-marks", "FILE"),
        texts("# a\ncname\te.example\tE\thttps://e.example/\nserver\tedge*\tE\n"),
        flipped, "cdns.tsv", lambda: {"rows": probe_rows()[0]},
    ),
    "thesis rows": Kind(("probe", "report", "FILE"), texts(THESIS), flipped, "a_v4_b.csv"),
}  # fmt: skip
