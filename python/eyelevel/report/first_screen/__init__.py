"""What a page shows before anything is opened: the answer, and what it rests on.

At most 500 words and 12 p values, which a test counts. The answer's sentences
(`eyelevel.analysis.answers`) come first, then three marks that open (level, loads, machine), the
typical pair of loads side by side, and the gains as charts. All tables are for reviewers
(`eyelevel.report.sections`).
"""
