"""Holds the layers of the Rust half: which crate may use which, and no circle among files.

`[workspace.metadata.layers]` of Cargo.toml is the contract between crates; `cargo metadata` says
what they use. Tests may use more.

Inside a crate, modules beside each other must not use each other in a circle, directly or over
others. A folder counts as one module with all that lies in it. A module and what lies inside it may
use each other: they are one thing in parts.
"""

import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from scripts.arguments import root_asked

PREFIX = "eyelevel-"
_NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL,
)
_USE = re.compile(r"(?<![\w:])(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:])\w+(?:::\w+)+")
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*mod\s+(\w+)\s*;")

Segments = tuple[str, ...]
"""The segments of a module's or an item's path, without the crate."""


class SourceFile:
    """A file of a crate: its module's path, the paths that it uses and what it calls them."""

    def __init__(self, module: Segments, text: str) -> None:
        code = code_of(text, tests=False)
        self.module = module
        self.test_modules = set(_TEST_MODULE.findall(code))
        self.names: dict[str, Segments] = {}
        """What each name stands for that a `use` brings here."""
        self.paths: set[Segments] = set()
        """What is used here. A `pub use` only passes on."""
        for is_public, tree in _USE.findall(code):
            for path, name in _leaves(tree):
                self.names[name] = path
                if not is_public:
                    self.paths.add(path)
        for text_of_path in _PATH.findall(_USE.sub(";", code)):
            first, *rest = text_of_path.split("::")
            self.paths.add((*self.names.get(first, (first,)), *rest))


class Crate:
    """The files of a crate, by the path of their module."""

    def __init__(self, source: Path) -> None:
        files = [_source_file(source, path) for path in sorted(source.rglob("*.rs"))]
        tests = {(*file.module, name) for file in files for name in file.test_modules}
        self.files = {file.module: file for file in files if file.module not in tests}

    def circles(self) -> list[list[str]]:
        """Return the first cycle of imports in each folder."""
        levels: dict[Segments, dict[str, set[str]]] = {}
        for file in self.files.values():
            for path in file.paths:
                self._add_use(levels, file.module, self._module_of(file, path))
        found = []
        for folder, uses in sorted(levels.items()):
            try:
                TopologicalSorter(uses).prepare()
            except CycleError as error:
                # `graphlib` names whoever is used first.
                found.append(["/".join((*folder, name)) for name in reversed(error.args[1])])
        return found

    def _add_use(
        self, levels: dict[Segments, dict[str, set[str]]], user: Segments, used: Segments | None
    ) -> None:
        if used is None:
            return
        pairs = zip(user, used, strict=False)
        depth = next((at for at, (one, other) in enumerate(pairs) if one != other), None)
        if depth is not None:
            uses = levels.setdefault(user[:depth], {})
            uses.setdefault(user[depth], set()).add(used[depth])

    def _module_of(self, file: SourceFile, path: Segments, hops: int = 0) -> Segments | None:
        """The module whose file has the item of this path; none for another crate's."""
        absolute = self._absolute(file.module, path)
        if absolute is None or hops > len(self.files):
            return None
        depth = 0
        while depth < len(absolute) and absolute[: depth + 1] in self.files:
            depth += 1
        module = absolute[:depth]
        item = absolute[depth] if depth < len(absolute) else None
        passed_on = self.files[module].names.get(item) if module in self.files and item else None
        if passed_on is None:
            return module
        origin = self._module_of(self.files[module], passed_on, hops + 1)
        return module if origin is None else origin

    def _absolute(self, module: Segments, path: Segments) -> Segments | None:
        first, rest = path[0], path[1:]
        if first == "crate":
            return rest
        if first == "self":
            return module + rest
        if first == "super":
            return self._absolute(module[:-1], ("self", *rest) if rest[:1] != ("super",) else rest)
        return module + path if (*module, first) in self.files else None


def code_of(text: str, *, tests: bool) -> str:
    """A file's text without its comments and texts, and without its module of tests if asked."""
    return _NOISE.sub('""', text if tests else text.partition("#[cfg(test)]\nmod tests {")[0])


def _source_file(source: Path, path: Path) -> SourceFile:
    module = path.relative_to(source).with_suffix("").parts
    if module[-1] in ("mod", "lib", "main"):
        module = module[:-1]
    return SourceFile(module, path.read_text(encoding="utf-8"))


def _leaves(tree: str, before: Segments = ()) -> list[tuple[Segments, str]]:
    """Return every path of a `use`, with the name that it gets."""
    head, brace, inside = tree.partition("{")
    if brace:
        path = before + tuple(part.strip() for part in head.split("::") if part.strip())
        parts = _parts(inside.rpartition("}")[0])
        return [leaf for part in parts for leaf in _leaves(part, path)]
    plain, _, alias = tree.partition(" as ")
    path = before + tuple(part.strip() for part in plain.split("::") if part.strip())
    if path[-1] in ("self", "*"):
        path = path[:-1]
        return [(path, alias.strip() or (path[-1] if plain.strip() == "self" else "*"))]
    return [(path, alias.strip() or path[-1])]


def _parts(inside: str) -> list[str]:
    """Return the parts between the commas of a `use`, without those of inner braces."""
    parts, depth = [""], 0
    for character in inside:
        if character == "," and depth == 0:
            parts.append("")
            continue
        depth += (character == "{") - (character == "}")
        parts[-1] += character
    return [part for part in parts if part.strip()]


def contract_faults(metadata: dict) -> list[str]:
    """Return where the crates' dependencies and the contract disagree."""
    contract = metadata["metadata"]["layers"]
    used = {
        package["name"].removeprefix(PREFIX): {
            dependency["name"].removeprefix(PREFIX)
            for dependency in package["dependencies"]
            if dependency["kind"] != "dev" and dependency["name"].startswith(PREFIX)
        }
        for package in metadata["packages"]
    }
    faults = [f"{crate}: the contract does not name it" for crate in used.keys() - contract.keys()]
    for crate, allowed in contract.items():
        actual = used.get(crate, set())
        faults += [f"{crate}: uses {name}, which its layer may not" for name in actual - {*allowed}]
        faults += [f"{crate}: may use {name}, and does not" for name in {*allowed} - actual]
    return sorted(faults)


def main(folder: Path) -> int:
    """Prints what is wrong, a line each."""
    command = ["cargo", "metadata", "--format-version", "1", "--offline", "--no-deps"]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        print(f"cargo metadata in {folder}: {answer.stderr.strip()}", file=sys.stderr)
        return 1
    metadata = json.loads(answer.stdout)
    faults = contract_faults(metadata)
    for package in metadata["packages"]:
        circles = Crate(Path(package["manifest_path"]).parent / "src").circles()
        faults += [f"{package['name']}: files in a circle: {' -> '.join(c)}" for c in circles]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(root_asked(__doc__)))
