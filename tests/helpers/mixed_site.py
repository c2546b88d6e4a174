"""Pages partly over http: cleartext and TLS mixed, with hosts that browsers would upgrade."""

from pathlib import Path

from pages import image

from eyelevel.sites.pack import SyntheticExchange, pack_site

PAGE_HOST, PLAIN, SECURE = "mixed.example", "http://plain.example", "https://secure.example"
LISTED = "http://www.google-analytics.com"
"""A host on every browser's list for strict transport security."""
ADDRESSES = {
    PAGE_HOST: "192.0.2.1",
    "plain.example": "192.0.2.2",
    "secure.example": "192.0.2.3",
    "www.google-analytics.com": "192.0.2.4",
}
SCRIPT = b"document.body.append('script')"


def pack_mixed(folder: Path, scheme: str, pictures: tuple[bytes, bytes] | None = None) -> Path:
    """A page over `scheme` with pictures, scripts and a frame over both."""
    over_http, over_https = pictures or (image(20), image(90))
    own = f"{scheme}://{PAGE_HOST}"
    page = f"""<!doctype html><title>mixed</title><link rel=icon href=data:,>
<link rel=stylesheet href={own}/style.css><h1>A heading</h1>
<img src={PLAIN}/picture.png><img src={SECURE}/picture.png>
<script src={SECURE}/script.js></script><script src={PLAIN}/script.js></script>
<script src={LISTED}/analytics.js></script><iframe src={LISTED}/frame></iframe>"""
    exchanges = [
        SyntheticExchange(f"{own}/", "text/html", page.encode()),
        SyntheticExchange(f"{own}/style.css", "text/css", b"h1 { color: red }"),
        SyntheticExchange(f"{PLAIN}/picture.png", "image/png", over_http),
        SyntheticExchange(f"{SECURE}/picture.png", "image/png", over_https),
        SyntheticExchange(f"{SECURE}/script.js", "text/javascript", SCRIPT),
        SyntheticExchange(f"{PLAIN}/script.js", "text/javascript", SCRIPT),
        SyntheticExchange(f"{LISTED}/analytics.js", "text/javascript", SCRIPT),
        SyntheticExchange(f"{LISTED}/frame", "text/html", b"<!doctype html><p>frame"),
    ]
    out = folder / f"mixed-{scheme}.wacz"
    pack_site(out, exchanges, title="mixed", addresses=ADDRESSES)
    return out
