"""Tables in Markdown, as docs/decisions has them."""

from collections.abc import Sequence


def print_head(heads: Sequence[str]) -> None:
    """The first column is words, the others are numbers."""
    print(f"| {' | '.join(heads)} |\n| --- |{' ---: |' * (len(heads) - 1)}")
