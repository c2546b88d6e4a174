"""What the checks of this folder take on their command line: the same of each."""

import argparse
from pathlib import Path

ROOT = Path(__file__).parent.parent


def root_asked(description: str | None) -> Path:
    """The folder to check: the repository, if no other is named. `--help` prints `description`."""
    parser = _parser(description)
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="what to check instead")
    root: Path = parser.parse_args().root
    return root.resolve()


def flag_asked(description: str | None, flag: str, what: str) -> bool:
    """Whether the one flag of a script was given."""
    parser = _parser(description)
    parser.add_argument(flag, dest="flag", action="store_true", help=what)
    return bool(parser.parse_args().flag)


def _parser(description: str | None) -> argparse.ArgumentParser:
    kept = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=kept)
