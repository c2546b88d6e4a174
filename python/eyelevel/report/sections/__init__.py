"""The parts of a run's page, one per file.

A section is a function that takes the study's results and returns its HTML, empty if there is
nothing to report; its JSON (`..._json`) is in the same file, so that both have the same numbers.
The table `SECTIONS` in `eyelevel.report.page` has both and their order, and which of them are for
reviewers. The first screen has a package of its own.

Sections do not import one another's pieces, except for shared sentences. Cells of numbers with
intervals are in `eyelevel.report.statistic_cells`.
"""
