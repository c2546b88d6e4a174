"""Finds what nothing of the product uses: vulture, told what it cannot see.

vulture takes a name for used when any code of the product has it; tests do not count, for what only
a test calls is dead. Four uses are in no code: a field is written to JSON with its whole class, a
template reads attributes, a command is called by the name of its file, and what `USED` lists.
"""

import ast
import re
import sys
from collections.abc import Collection
from pathlib import Path

from vulture import Vulture

from scripts.arguments import root_asked

SOURCES = ("python", "benchmarks", "scripts")
FIELDS_ARE_NAMED_IN = ("spec/*", "docs/reference/*.md")
TEMPLATES = "python/eyelevel/report/templates/*.html"
COMMANDS = "python/eyelevel/cli/"

USED = {
    # Members of a choice that is compared with the other ones alone.
    "EYELEVEL": "`eyelevel metrics --convention eyelevel`",
    # Written to JSON with all of `FineCell`, whose page is no reference.
    "goodput_bit_s_max": "`eyelevel validate stacks --fine --json`",
    "goodput_bit_s_min": "`eyelevel validate stacks --fine --json`",
    # Printed with all of `PathWaits`.
    "rest_ms": "`eyelevel explain trial`",
    # Called by name, by the library that a class extends.
    "do_GET": "http.server calls it",
    "handle_data": "html.parser calls it",
    "handle_endtag": "html.parser calls it",
    "handle_starttag": "html.parser calls it",
    "heartbeat": "Dask's scheduler calls it",
    "list_directory": "http.server calls it",
    "log_message": "http.server calls it",
    "observe_tasks": "Dask's scheduler calls it",
    "quic_event_received": "aioquic calls it",
    # What a write reports to it is in the product; who listens is a test.
    "watch_steps": "tests of faults end the process at a step",
    "model_config": "pydantic reads it",
    "traceback": "the third argument of __exit__, which Python passes",
    # Set for a library, which reads it.
    "protocol_version": "http.server reads it",
    # Registered by a decorator with a name of its own.
    "check_server": "`eyelevel server check`",
    "compare_server": "`eyelevel server compare`",
    "download_from_server": "`eyelevel server bulk`",
    "expand_": "`eyelevel plan expand`",
    "from_csv": "`eyelevel network from-csv`",
    "print_recipe": "`eyelevel server recipe`",
}
"""Names that are used, each with the reason."""


def dead_code(root: Path, used: Collection[str] = USED.keys()) -> list[str]:
    """Return what is unused below `root` and not in `used`, one line each."""
    vulture = Vulture()
    vulture.scavenge([str(root / folder) for folder in SOURCES if (root / folder).is_dir()])
    files = [file for folder in SOURCES for file in sorted((root / folder).rglob("*.py"))]
    trees = {str(file): ast.parse(file.read_text(encoding="utf-8")) for file in files}
    texts = {
        node.value
        for name, tree in trees.items()
        if name != __file__
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    fields = {(name, line) for name, tree in trees.items() for line in _field_lines(tree)}
    documented = {
        word
        for pattern in FIELDS_ARE_NAMED_IN
        for page in root.glob(pattern)
        for word in re.findall(r"\w+", page.read_text(encoding="utf-8"))
    }
    in_templates = {
        name
        for page in root.glob(TEMPLATES)
        for code in re.findall(r"{[{%](.*?)[%}]}", page.read_text(encoding="utf-8"))
        for name in re.findall(r"\.(\w+)", code)
    }
    faults = []
    for item in vulture.get_unused_code():
        if item.typ == "import":
            continue  # ruff's, which reads quoted annotations as well
        name, where = item.name, Path(item.filename).relative_to(root).as_posix()
        if item.typ in ("variable", "attribute"):
            # A key of JSON, or a column, is a text where it is read.
            is_field = (str(item.filename), item.first_lineno) in fields
            is_used = name in texts or (is_field and name in documented)
        else:
            is_used = where.startswith(COMMANDS) and name == Path(where).stem
        if name not in used and name not in in_templates and not is_used:
            faults.append(f"{where}:{item.first_lineno}: nothing uses the {item.typ} {name}")
    return faults


def _field_lines(tree: ast.Module) -> set[int]:
    """Return the lines of annotated names in bodies of classes: fields of dataclasses, models and
    tuples."""
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {part.lineno for body in bodies for part in body if isinstance(part, ast.AnnAssign)}


if __name__ == "__main__":
    found = dead_code(root_asked(__doc__))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)
