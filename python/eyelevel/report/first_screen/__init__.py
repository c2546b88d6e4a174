"""The first screen of a page, without opening anything: the answer and its basis.

It has at most 500 words and 12 p values, which a test counts. The answer's sentences
(`eyelevel.analysis.answers`) come first, then three marks that unfold (level, loads, machine), the
typical pair of loads side by side, and the gains as charts. All tables are for reviewers
(`eyelevel.report.sections`).
"""
