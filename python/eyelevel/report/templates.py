"""Templates of the page's sections (Jinja2), one per section, in the folder `templates`.

A section is a frozen dataclass: its template reads its fields, and `as_json` returns them as JSON.
Text is escaped where it enters, as everywhere on the page.
"""

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from eyelevel.report.html import Markup, escape, with_code


def _source(name: str) -> str:
    return files("eyelevel.report").joinpath("templates", name).read_text(encoding="utf-8")


_ENVIRONMENT = Environment(
    loader=FunctionLoader(_source),
    autoescape=True,
    finalize=escape,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["code"] = with_code


def render(name: str, section: object) -> Markup:
    """Return the HTML of a section: its template `NAME.html` reads it as `section`."""
    return Markup(_ENVIRONMENT.get_template(f"{name}.html").render(section=section).strip())
