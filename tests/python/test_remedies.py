"""Every message of an expected error has its way out, in the words of the place that raises it.

What cannot be walked is read: each place in the package that makes such an error. What a test can
reach by bad files is held by `tests/input/test_bad_inputs.py` to the same words.
"""

import ast
import builtins
import errno
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from remedies import has_remedy

import eyelevel
from eyelevel.base import errors
from eyelevel.base.errors import ExpectedError, refusal_of

PACKAGE = Path(eyelevel.__file__).parent
CARRYING = {
    "unknown", "why_none", "refusal_of", "REMEDY", "RESTORE", "remedy", "mend", "meant",
    "RESTART", "hint", "DOCTOR", "said_nothing", "refusal_of_writing",
}  # fmt: skip
"""What brings a way out into a message by its name; `unknown` says which words are known."""

PASSED_ON: dict[str, str] = {
    "cluster/driver.py": "the first line that a slot says",
    "base/from_outside/pictures.py": "who reads a picture says whose it is, and what to do",
    "lab/client.py": "the data plane's own words",
    "calibration/validation/fine_grid.py": "the data plane's own words",
}
"""Files that hand on a message of another place alone, whose way out that one has."""


def errors_of_users() -> set[str]:
    """Names of the classes whose message becomes the command's line."""
    found = {"BadParameter"}
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text("utf-8")
        if "Error)" not in text and "Error," not in text:
            continue
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
                place = ".".join(("eyelevel", *file.relative_to(PACKAGE).with_suffix("").parts))
                if issubclass(getattr(import_module(place), node.name), ExpectedError):
                    found.add(node.name)
    return found


def made() -> Iterator[tuple[str, int, ast.Call]]:
    """Each place that makes one: file, line, call."""
    names = errors_of_users()
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in names:
                    if name == "WordError":  # its first argument is the word alone
                        node = ast.Call(node.func, node.args[1:], [], lineno=node.lineno)
                    yield str(file.relative_to(PACKAGE)), node.lineno, node


def words_of(node: ast.AST) -> str:
    """The literal text of a message, with `{}` for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(words_of(each) for each in values)
        case ast.FormattedValue():
            inner = " ".join(words_of(each) for each in ast.walk(node) if _is_text(each))
            return f"{{}}{inner}"
    return " ".join(words_of(each) for each in ast.iter_child_nodes(node))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def carries(call: ast.Call) -> bool:
    names = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(call) if isinstance(n, ast.Attribute)}
    return bool({name.lstrip("_") for name in names} & CARRYING)


def is_handed_on(call: ast.Call) -> bool:
    """Another's message, bare or behind a place: `{place}: {error}`."""
    own = re.sub(r"--[a-z-]+|\{\}\w*", "", words_of(call))
    return not any(c.isalpha() for c in own) or _ends_with_error(call)


def _ends_with_error(call: ast.Call) -> bool:
    last = [n for n in ast.walk(call) if isinstance(n, ast.FormattedValue)]
    return bool(last) and words_of(call).endswith("{}") and "rror" in ast.unparse(last[-1])


def test_each_place_that_makes_an_error_says_the_way_out():
    without = [
        f"{file}:{line}: {words_of(call)}"
        for file, line, call in made()
        if file not in PASSED_ON
        and not (has_remedy(words_of(call).strip()) or carries(call) or is_handed_on(call))
    ]
    assert not without, "\n".join(without)


def test_there_are_as_many_as_there_should_be():
    """A walk that finds nothing would find no fault."""
    places = list(made())
    assert len(places) > 350
    assert {"cli/run/ask.py", "store/directory.py", "lab/binary.py"} <= {
        file for file, _, _ in places
    }
    assert not has_remedy("reading x: it is damaged") and has_remedy("x is damaged; get it again")


@pytest.mark.parametrize("number", errors.REFUSALS)
def test_what_a_system_refuses_has_a_remedy(number: int):
    said = refusal_of(OSError(number, os.strerror(number)))
    assert has_remedy(said) and "; " in said


def test_a_refusal_that_is_not_in_the_table_has_one_too():
    assert has_remedy(refusal_of(OSError(errno.EIO, "Input/output error")))
    assert has_remedy(refusal_of(builtins.OSError("no number")))
