"""Bad recordings and scripts of them: by name, what reads each."""

from bad_changes import Kind, flipped, of_warc, of_zip
from bad_samples import corpus, golden, texts, warcs

IMPORT = ("site", "import", "FILE", "--out", "OUT.wacz")

KINDS: dict[str, Kind] = {
    "script": Kind(
        ("record", "https://a.example/", "--script", "FILE", "--out", "OUT"),
        texts("# a\nscroll end\nclick #more\nscript 1 + 1\nscroll 800\n"), flipped, "script",
    ),
    "archive": Kind(("site", "info", "FILE"), golden("small.wacz"), of_zip, "a.wacz"),
    "WARC": Kind(("site", "info", "FILE"), warcs, of_warc, "a.warc"),
    "WARC imported": Kind(IMPORT, warcs, of_warc, "a.warc"),
    "Mahimahi": Kind(IMPORT, corpus("mahimahi"), flipped, "saved/save.1"),
    "HAR": Kind(IMPORT, corpus("har"), flipped, "a.har"),
    "mitmproxy": Kind(IMPORT, corpus("mitmproxy"), flipped, "a.flow"),
    "WPR": Kind(IMPORT, corpus("wpr"), flipped, "a.wprgo"),
}  # fmt: skip
