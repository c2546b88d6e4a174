"""Select the repository's files that are pages of the documentation site, and lay them out.

A page of `docs/` stands at the same place in the site, one of `spec/` below `reference/formats/`. A
link to a page leads to it; one to a text beside a guide to that file; what else of the repository a
page names is named without a link, since the site stands alone. An index page's links, in their
order, are what the navigation has below it.
"""

import re
from collections.abc import Callable
from os.path import relpath
from pathlib import Path, PurePosixPath

from eyelevel.base import errors
from scripts.docs.command_pages import command_pages

PAGES = {
    "README.md": "index.md",  # links to it lead to the site's first page
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
}
"""Pages outside of docs/ and spec/."""
FORMATS = "reference/formats"
FOLDERS = {
    "docs": "docs/index.md",
    "docs/ci": "docs/ci/README.md",
    "docs/decisions": "docs/decisions/index.md",
    "docs/guides": "docs/guides/index.md",
    "docs/reference": "docs/reference/index.md",
    "docs/replications": "docs/replications/index.md",
    "spec": "docs/reference/index.md",
}
"""Pages that list what is in a folder."""
SECTIONS = {
    "reference/commands/index.md": ("reference/commands/",),
    "guides/index.md": ("guides/", "ci/", "agents/"),
    "reference/index.md": ("reference/",),
    "decisions/index.md": ("decisions/",),
    "replications/index.md": ("replications/",),
    "explanation.md": ("",),
}
"""Index pages, and where the pages are that stand below them: the first that fits a page has it."""
MADE = {
    "<!-- made: pages -->": """\
## The command line and Python

- [The command line](commands/index.md): every command with its arguments and options
- [In a notebook](python.md): what `eyelevel.open` gives, and the errors that are raised
""",
    "<!-- made: report -->": """\
<a href="examples/report.html"><strong>Open the report</strong></a>

```{image} first-screen.png
:alt: The report's first screen
:target: examples/report.html
```
""",
}
"""Comments in whose place a page names what is made with the site."""
PYTHON_PAGE = """\
# In a notebook

Made from the docstrings; [the guide](../guides/notebooks.md) has a first analysis.

```{eval-rst}
.. autofunction:: eyelevel.open
.. autoclass:: eyelevel.report.notebook.Run
```

## Errors

"""
_RUST = re.compile(r"^```rust,\w+$", re.MULTILINE)
"""Blocks that `cargo test` does not run as they stand."""
FIRST = [
    "tutorial",
    "examples",
    "guides/index",
    "reference/index",
    "explanation",
    "replications/index",
    "changelog",
]

_CODE = re.compile(
    r"(^(?P<fence>```|~~~).*?^(?P=fence)[ ]*$)|(`[^`\n]+`)", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*([^)\s]+)\s*\)")
_NAMED = re.compile(r"`((?:docs|spec)/[\w/.-]+\.md)`")
_ELSEWHERE = re.compile(r"^[a-z][a-z+.-]*:|^//|^#", re.IGNORECASE)


def site_place(path: PurePosixPath) -> PurePosixPath | None:
    """Return where a file of the repository is in the site; None if it is not."""
    if named := PAGES.get(str(path)):
        return PurePosixPath(named)
    match path.parts:
        case ("docs", "site", *_):
            return None
        case ("docs", *rest):
            return PurePosixPath(*rest)
        case ("spec", *rest):
            return PurePosixPath(FORMATS, *rest)
    return None


def lay_pages(root: Path, out: Path) -> None:
    """Write every page, and what pages show or link to, below `out`."""
    sources = [root / name for name in PAGES if name != "README.md"]
    sources += sorted(file for name in ("docs", "spec") for file in (root / name).rglob("*"))
    for source in filter(Path.is_file, sources):
        path = PurePosixPath(source.relative_to(root))
        place = site_place(path)
        if place is None or "__pycache__" in path.parts:
            continue
        target = out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            text = relinked(root, path, source.read_text(encoding="utf-8"))
            text = _RUST.sub("```rust", text)
            for comment, made in MADE.items():
                text = text.replace(comment, made)
            target.write_text(text, encoding="utf-8")
        else:
            target.write_bytes(source.read_bytes())


def relinked(root: Path, path: PurePosixPath, text: str) -> str:
    """The text of the page `path` with links as the site needs them."""
    here = site_place(path)
    assert here is not None, path

    def lead(repository_path: str) -> str | None:
        """Return the link from here to a file of the repository, or to the index of a folder."""
        aim = PurePosixPath(relpath(root / repository_path, root))
        aim = PurePosixPath(FOLDERS.get(str(aim), aim))
        if (root / aim).is_dir():
            return None
        place = site_place(aim)  # of a page that is not there, too: then the build says so
        return relpath(place, here.parent) if place else None

    def link(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        if _ELSEWHERE.match(target):
            return found[0]
        name, _, anchor = target.partition("#")
        to = lead(name[1:] if name.startswith("/") else str(path.parent / name))
        if to is None:
            return shown
        return f"{mark}[{shown}]({to}{'#' if anchor else ''}{anchor})"

    def named(found: re.Match[str]) -> str:
        to = lead(found[1])
        return f"[{found[0]}]({to})" if to and to != here.name else found[0]

    return _linked_names(_outside_code(_LINK, link, text), named)


def _linked_names(text: str, named: Callable[[re.Match[str]], str]) -> str:
    """A page named in code is a link, where it is not the text of one."""
    within = [found.span() for found in _LINK.finditer(text)]
    within += [found.span() for found in _CODE.finditer(text) if found["fence"]]

    def one(found: re.Match[str]) -> str:
        is_within = any(start <= found.start() < end for start, end in within)
        is_heading = text.startswith("#", text.rfind("\n", 0, found.start()) + 1)
        return found[0] if is_within or is_heading else named(found)

    return _NAMED.sub(one, text)


def _outside_code(
    pattern: re.Pattern[str], change: Callable[[re.Match[str]], str], text: str
) -> str:
    """`text` with what matches changed, but for matches that begin inside of code."""
    within = [found.span() for found in _CODE.finditer(text)]

    def one(found: re.Match[str]) -> str:
        is_code = any(start < found.start() < end for start, end in within)
        return found[0] if is_code else change(found)

    return pattern.sub(one, text)


def add_made_pages(out: Path) -> None:
    """Write the pages of commands and of Python."""
    folder = out / "reference"
    pages = {f"commands/{name}": text for name, text in command_pages().items()}
    kinds = [name for name, each in vars(errors).items() if _is_error(each)]
    raised = "\n".join(f".. autoexception:: eyelevel.base.errors.{name}" for name in kinds)
    pages["python.md"] = f"{PYTHON_PAGE}\n```{{eval-rst}}\n{raised}\n```\n"
    for name, text in pages.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _is_error(each: object) -> bool:
    return (
        isinstance(each, type)
        and issubclass(each, Exception)
        and each.__module__ == errors.__name__
    )


def add_navigation(out: Path) -> None:
    """Give the first page and each index page its part of the navigation."""
    _append_tree(out / "index.md", FIRST)
    rest = {str(page.relative_to(out)) for page in out.rglob("*.md")} - {"index.md"}
    rest -= {f"{stem}.md" for stem in FIRST}
    for name, folders in SECTIONS.items():
        page = out / name
        linked = [found[3].partition("#")[0] for found in _LINK.finditer(page.read_text("utf-8"))]
        places = [relpath(page.parent / target, out) for target in linked]
        own = {place for place in rest - {name} if place.startswith(folders)}
        # What no index names yet stands at its end.
        below = [place for place in dict.fromkeys([*places, *sorted(own)]) if place in own]
        rest -= own
        _append_tree(page, [place.removesuffix(".md") for place in below])


def _append_tree(page: Path, below: list[str]) -> None:
    entries = "\n".join(f"/{each}" for each in below)
    with page.open("a", encoding="utf-8") as to:
        to.write(f"\n```{{toctree}}\n:hidden:\n:titlesonly:\n\n{entries}\n```\n")
