"""Find what a function may call, as far as its code names it: by names, attributes, imports."""

import dis
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType

PACKAGE = "eyelevel"


@functools.cache
def named_by(function: FunctionType) -> frozenset[object]:
    """Return what a function's code names: functions, directly or in a table, classes and
    modules."""
    known = dict(function.__globals__)
    names: set[str] = set()
    for code in _codes(function.__code__):
        names.update(code.co_names)
        known.update(_imported(code))
    modules = [known[name] for name in names if isinstance(known.get(name), ModuleType)]
    found = [known[name] for name in names if name in known]
    tables = [each for each in found if isinstance(each, dict)]
    found += [value for table in tables for value in table.values()]
    found += [
        vars(module)[name]
        for module in modules
        for name in names
        if module.__name__.startswith(PACKAGE) and name in vars(module)
    ]
    return frozenset(each for each in found if isinstance(each, FunctionType | type | ModuleType))


def reached(start: Callable[..., object]) -> set[object]:
    """Return all that `start` may come to call in the package, and the modules that it names."""
    seen: set[object] = set()
    left: list[object] = [inspect.unwrap(start)]
    while left:
        each = left.pop()
        each = inspect.unwrap(each) if isinstance(each, FunctionType) else each
        if each in seen:
            continue
        seen.add(each)
        if not getattr(each, "__module__", "").startswith(PACKAGE):
            continue
        if isinstance(each, FunctionType):
            left += named_by(each)
        elif isinstance(each, type):
            left += filter(lambda member: isinstance(member, FunctionType), vars(each).values())
    return seen


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _imported(code: CodeType) -> dict[str, object]:
    """Return a function's own imports."""
    found: dict[str, object] = {}
    module = None
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            module = importlib.import_module(step.argval)
            found[step.argval.partition(".")[0]] = importlib.import_module(
                step.argval.partition(".")[0]
            )
        elif step.opname == "IMPORT_FROM":
            found[step.argval] = getattr(module, step.argval)
    return found
