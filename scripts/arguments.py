"""Parse scripts' command lines, and find their repository."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def root_asked(description: str | None) -> Path:
    """The folder to check: the repository, if no other is named. `--help` prints `description`."""
    parser = parser_of(description)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="what to check instead")
    root: Path = parser.parse_args().root
    return root.resolve()


def flag_asked(description: str | None, flag: str, what: str) -> bool:
    """Return whether the one flag of a script was given."""
    parser = parser_of(description)
    parser.add_argument(flag, dest="flag", action="store_true", help=what)
    return bool(parser.parse_args().flag)


def parser_of(text: str | None, called: str | None = None) -> argparse.ArgumentParser:
    """A parser whose help is a module's docstring, `called` by that name or by `python -m`."""
    spec = sys.modules["__main__"].__spec__
    name = spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).name
    shape = argparse.RawDescriptionHelpFormatter
    usual = f"python -m {name}"
    return argparse.ArgumentParser(called or usual, description=text, formatter_class=shape)
