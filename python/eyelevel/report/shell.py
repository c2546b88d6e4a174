"""What every page of ours is: one HTML file that needs no network and no other file."""

from collections.abc import Callable
from importlib.resources import files
from typing import cast

import vl_convert

from eyelevel.json_types import JsonMapping
from eyelevel.report.html import Markup, data_block, element

# Nothing may be fetched, not even by mistake; Vega compiles its expressions, hence unsafe-eval.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline' 'unsafe-eval'"
)


def shell(title: str, main: Markup, data: JsonMapping, *scripts: str) -> str:
    """A whole page: `main` in our style, `data` for the `scripts`, with Vega beside them."""
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<link rel="icon" href="data:,">'),
        element("title", title),
        element("style", Markup(_asset("page.css"))),
    )
    body = element(
        "body",
        main,
        *(data_block(name, value) for name, value in data.items()),
        element("script", Markup(_script_safe(_bundle()))),
        *(element("script", Markup(_asset(script))) for script in scripts),
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed; the package's types do not know that it needs no snippet."""
    return cast(Callable[[], str], vl_convert.javascript_bundle)()


def _asset(name: str) -> str:
    return files("eyelevel.report").joinpath("assets", name).read_text(encoding="utf-8")


def _script_safe(text: str) -> str:
    # It can stand in strings and regular expressions only, where the backslash changes nothing.
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")
