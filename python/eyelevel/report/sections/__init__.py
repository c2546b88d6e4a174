"""The parts of a run's page, one a file.

A section is a function of the study's contents that gives its piece of HTML, or nothing if there
is nothing to say; what it says for machines (`..._json`) stands beside it, so that both have the
same numbers. The table `SECTIONS` in `eyelevel.report.page` has both and gives the order, and says
what stands behind "For reviewers". The first screen has a package of its own.

Sections do not import one another's pieces but for text that both must say alike. Cells of numbers
with intervals are in `eyelevel.report.statistic_cells`.
"""
