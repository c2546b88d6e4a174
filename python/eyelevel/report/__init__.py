"""The report: one HTML file that needs no network and no other file, from a run's directory alone.

`page` has the one table of sections: what each shows, and what it says to machines; it reads the
study (`eyelevel.analysis.study`) and writes the file. `page_data` is what the page's script gets,
and keeps the page within its bytes; `shell` is what every page of ours has around it, with scripts
and style from `assets`; `html` makes pieces of HTML, escaped where text enters; `statistic_cells`
has what stands in a table of an estimate or a test. `sections` are the parts of the page, `pages`
the other pages.

Nothing is computed here that is not shown here: a number that anybody else could want belongs into
`eyelevel.analysis`. Neither lab nor browser is known.
"""
