"""Commands on what a run left: `report`, `compare`, `figures`, `metrics`, `export`, `bundle`.

Each reads a run's directory and neither loads a page nor changes a record. `gate` turns verdicts
into lines, JUnit's XML and an exit status for whoever asks for conditions; `steps` has the
measures of loads and of the steps after them, as JSON and as tables.

What the numbers are is decided in `eyelevel.analysis`, how a page looks in `eyelevel.report`, and
other tools' formats in `eyelevel.analysis.export`.
"""
