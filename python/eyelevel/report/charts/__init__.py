"""Charts: tables in, Vega-Lite specifications out; pure.

Each file is one family of charts, a function of a Polars frame or of a timeline whose columns its
docstring names. `chart` has what all need: rows inside a specification, and a specification as a
file for a paper.

Which rows go into a chart is decided in `eyelevel.report.figures` and beside the command that
plots; where it stands on a page, in `eyelevel.report`. No file is read or written here, and no
number is computed that a text could quote.
"""
