"""Writes what docs/ARCHITECTURE.md has of the code itself: the list of parts and the drawing.

The parts stand in the order of their layers (pyproject.toml, `[workspace.metadata.layers]` of
Cargo.toml), each with what its first line says; the drawing has what they really import. `--check`
writes nothing and says what is stale.
"""

import ast
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from typing import Any

import grimp

from scripts.arguments import ROOT, flag_asked
from scripts.docs.layered_drawing import Layout, drawn, reduced, size

PAGE, DRAWING = ROOT / "docs" / "ARCHITECTURE.md", ROOT / "docs" / "architecture.svg"
BEGIN, END = "<!-- parts: written by scripts/docs/architecture.py -->\n", "<!-- end of parts -->\n"
COLUMNS = 112
NAME_COLUMNS = 17

STYLE = """
svg { background: #fff } .tip { fill: #818b98 }
.arrow { fill: none; stroke: #818b98; stroke-width: 1.6; marker-end: url(#tip) }
.box { fill: #fff; stroke: #59636e; stroke-width: 1.5 } .pure { fill: #d7ebfd }
text { font-family: "Liberation Sans", Arial, Helvetica, sans-serif; fill: #1f2328 }
.name { font-size: 20px; text-anchor: middle } .plane { font-size: 23px; font-weight: bold }
.note { font-size: 19px } .border { stroke: #bf5600; stroke-width: 2; stroke-dasharray: 8 6 }
@media (prefers-color-scheme: dark) { svg { background: #0d1117 } text { fill: #e6edf3 }
.arrow { stroke: #7d8590 } .tip { fill: #7d8590 } .box { fill: #0d1117; stroke: #9198a1 }
.pure { fill: #12395f } .border { stroke: #f0883e } }
"""
MARGIN = 16


def packages() -> dict[str, str]:
    """The packages, top first, with the first line of each."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["eyelevel"])
    names = [name.strip() for layer in layers for name in layer.split("|")]
    return {name: _first_line(name) for name in names}


def _first_line(name: str) -> str:
    path = ROOT / "python" / "eyelevel" / name
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()[0]


def package_uses(names: set[str]) -> dict[str, set[str]]:
    """Return the packages that each package imports."""
    graph = grimp.build_graph("eyelevel", cache_dir=None)
    uses: dict[str, set[str]] = {name: set() for name in names}
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            user, used = (f"{name}.".split(".")[1] for name in (module, imported))
            if user != used and {user, used} <= names:
                uses[user].add(used)
    return uses


def crates() -> tuple[dict[str, str], dict[str, set[str]]]:
    """The crates, top first, with their descriptions, and what each uses of the others."""
    command = ["cargo", "metadata", "--format-version", "1", "--offline", "--no-deps"]
    answer = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    metadata: dict[str, Any] = json.loads(answer.stdout)
    found = {package["name"].removeprefix("eyelevel-"): package for package in metadata["packages"]}
    names = metadata["metadata"]["layers"]
    used = {
        name: {
            dependency["name"].removeprefix("eyelevel-")
            for dependency in found[name]["dependencies"]
            if dependency["kind"] != "dev" and dependency["name"].startswith("eyelevel-")
        }
        for name in names
    }
    return {name: found[name]["description"] for name in names}, used


def parts(crate_lines: dict[str, str], package_lines: dict[str, str]) -> str:
    """The list of parts, as the page has it."""
    lines = ["```"]
    for folder, entries in (("crates/", crate_lines), ("python/eyelevel/", package_lines)):
        lines.append(folder)
        for name, text in entries.items():
            is_file = folder.startswith("python") and not (ROOT / folder / name).is_dir()
            shown = f"  {name}{'.py' if is_file else '/'}".ljust(NAME_COLUMNS)
            wrapped = textwrap.wrap(text.rstrip("."), COLUMNS - NAME_COLUMNS)
            lines.append(shown + ("\n" + " " * NAME_COLUMNS).join(wrapped))
    return "\n".join([*lines, "```", ""])


def drawing(
    package_layout: Layout, crate_layout: Layout, pure_packages: set[str], pure_crates: set[str]
) -> str:
    """Return both planes, the control plane above, and where they meet."""
    (upper_width, upper_height), (lower_width, lower_height) = map(
        size, (package_layout, crate_layout)
    )
    width = max(upper_width, lower_width) + 2 * MARGIN
    left, lower_left = ((width - own) / 2 for own in (upper_width, lower_width))
    top = 52
    border = top + upper_height + 44
    lower_top = border + 96
    height = lower_top + lower_height + 78
    elements = [
        _text("plane", MARGIN, 32, "Control plane: python/eyelevel"),
        *drawn(package_layout, left, top, pure_packages),
        f'<path class="border" d="M{MARGIN} {border:.0f}H{width - MARGIN:.0f}"/>',
        _text(
            "note",
            MARGIN,
            border + 26,
            "lab above starts lab below: JSON lines and files, as in spec/",
        ),
        _text("plane", MARGIN, border + 76, "Data plane: crates"),
        *drawn(crate_layout, lower_left, lower_top, pure_crates),
        _text(
            "note", MARGIN, height - 38, "Arrows: uses. Those that follow from others are left out."
        ),
        _text("note", MARGIN, height - 14, "Filled: pure, no clock, socket or file inside."),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">\n'
        "<title>What uses what in both planes of eyelevel</title>\n"
        f"<style>{STYLE}</style>\n"
        '<marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="5" markerHeight="5" '
        'orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker>\n'
        + "\n".join(elements)
        + "\n</svg>\n"
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{text}</text>'


def is_pure(line: str) -> bool:
    """Return whether a part's first line says so."""
    return re.search(r"\bpure\b", line) is not None


def main(*, check: bool) -> int:
    """Writes both, or prints what is stale."""
    crate_lines, crate_uses = crates()
    package_lines = packages()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    page = before + BEGIN + parts(crate_lines, package_lines) + END + rest.partition(END)[2]
    picture = drawing(
        Layout(reduced(package_uses(set(package_lines)))),
        Layout(reduced(crate_uses)),
        *(
            {name for name, line in lines.items() if is_pure(line)}
            for lines in (package_lines, crate_lines)
        ),
    )
    stale = [
        (file, text)
        for file, text in ((PAGE, page), (DRAWING, picture))
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    for file, text in stale:
        if check:
            print(f"{file.name} is stale: run python -m scripts.docs.architecture")
        else:
            file.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(check=flag_asked(__doc__, "--check", "write nothing, say what is stale")))
