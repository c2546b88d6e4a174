"""A measured level as text: the answer first, then rows by what they mean; pure.

`row` says one row, its numbers with as many digits as one another; `verdict` what a pair comes to
in a sentence; `level` and `stacks` lay both out as lines for a terminal of any width, what is
apart before what is alike.

A level and its rows are dictionaries as `environment.json` and `--json` have them, so that what
was kept is said as what was just measured. Nothing is computed here but digits and widths.
"""
