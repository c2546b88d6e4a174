"""What a page's URL has to be."""

from urllib.parse import urlsplit

EXAMPLE = "https://www.example.org/"


def is_page_url(url: str) -> bool:
    """Whether a browser could open it as a page of a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # half an IPv6 address
        return False
