"""A run's findings for machines: the same numbers as the page's.

`summary` is what `--json` prints: answers, gains, outcomes, warnings and everything that a section
says as JSON. `junit` writes a gate's verdicts as continuous integration reads them.

Names are those of tables, plans and records. Formats of other tools for single loads are in
`eyelevel.export`.
"""
