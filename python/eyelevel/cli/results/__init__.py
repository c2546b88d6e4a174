"""Commands on a finished run: `report`, `compare`, `figures`, `metrics`, `export`, `bundle`.

Each reads a run's directory and neither loads a page nor changes a record. `gate` turns verdicts
into lines, JUnit XML and an exit status, for conditions; `metrics` prints metrics of loads and of
the steps after them, as JSON and as tables.

Numbers are computed in `eyelevel.analysis`, pages made in `eyelevel.report`, and other tools'
formats in `eyelevel.analysis.export`.
"""
