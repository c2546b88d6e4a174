"""The shell of every page of ours: one HTML file that needs no network and no other file.

Its policy names our scripts and our style by their digests. So nothing is fetched, injected scripts
and styles are ignored, and no text becomes code: Vega interprets its expressions (`charts.js`).
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import cast

import vl_convert

from eyelevel.base.json_types import JsonMapping
from eyelevel.report.html import Markup, data_block, element

STYLES = ("page.css", "charts.css")


def shell(title: str, main: Markup, data: JsonMapping, *scripts: str) -> str:
    """Return a page: `main` in our style, `data` for the `scripts`, which draw with Vega."""
    style = "".join(_asset(name) for name in STYLES)
    code = [_script_safe(_bundle()), *(_asset(script) for script in ("charts.js", *scripts))]
    policy = _content_security_policy(code, style)
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<link rel="icon" href="data:,">'),
        element("title", title),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        main,
        *(data_block(name, value) for name, value in data.items()),
        *(element("script", Markup(text)) for text in code),
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def _content_security_policy(scripts: Sequence[str], style: str) -> str:
    """Return a policy that allows only embedded images, these scripts and this style."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src {_source(style)}; script-src {' '.join(map(_source, scripts))}"
    )


def _source(text: str) -> str:
    """Return the source of an element's text in a policy (CSP level 3, section 2.3.1)."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed; the package's types lack that no snippet is needed."""
    return cast(Callable[[], str], vl_convert.javascript_bundle)()


def _asset(name: str) -> str:
    return files("eyelevel.report").joinpath("assets", name).read_text(encoding="utf-8")


def _script_safe(text: str) -> str:
    # These occur in strings and regular expressions only, where the backslash changes nothing.
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
