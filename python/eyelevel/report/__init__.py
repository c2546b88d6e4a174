"""The report: one HTML file that needs no network and no other file, from a run's directory alone.

`build` reads the study (`eyelevel.analysis.study`) and writes the page; `page` puts the sections
together; `shell` is what every page of ours has around them, with scripts and style from `assets`;
`html` makes pieces of HTML, escaped where text enters; `drawings` keeps the page within its bytes.
`sections` are the parts of the page, `pages` the other pages, `export` the same findings for
machines.

Nothing is computed here that is not shown here: a number that anybody else could want belongs into
`eyelevel.analysis`. Neither lab nor browser is known.
"""
