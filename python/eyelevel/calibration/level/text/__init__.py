"""A measured level as text: the answer first, then rows by their meaning; pure.

`row` formats one row, its numbers with the same number of digits; `verdict` summarises a pair in a
sentence; `level` and `stacks` lay both out as lines for a terminal of any width, differences before
similarities.

Levels and rows are dictionaries as in `environment.json` and `--json`, so that stored and fresh
ones are formatted alike. Nothing is computed here except digits and widths.
"""
