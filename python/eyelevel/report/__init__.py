"""The report: one HTML file that needs no network and no other file, from a run's directory alone.

`page` has the one table of sections, each with its HTML and its JSON; it reads the study
(`eyelevel.analysis.study`) and writes the file. `page_data` is the data of the page's script,
within a byte limit; `shell` is the frame of all our pages, with scripts and style from `assets`;
`html` builds pieces of HTML, escaped where text enters; `statistic_cells` formats estimates and
tests for tables. `sections` are the parts of the page, `pages` the other pages. `figures` computes
the rows of the papers' figures, `charts` draws them; `notebook` opens a run in notebooks.

A number that another package could use is computed in `eyelevel.analysis`, not here. Neither lab
nor browser is imported.
"""
