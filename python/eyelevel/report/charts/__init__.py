"""Charts: tables in, Vega-Lite specifications out; pure.

Each file is one family of charts, functions of a Polars frame or of a timeline whose columns their
docstrings name. `chart` has what all share: rows inside a specification, and a specification as a
file for a paper.

`eyelevel.report.figures` and the plotting commands choose the rows; `eyelevel.report` places
charts on a page. No file is read or written here, and no number is computed that a text could
quote.
"""
