"""The papers' figures and tables of a run: rows, and the charts drawn from them.

`catalogue` is the one table of them: name, caption, rows, chart. The other files compute the rows,
one family of figures each: those of Das 2014, break-even maps, single objects and origins, loads
whose metrics disagree, traces of the downlink, waterfalls, and the filmstrips of typical loads.

`eyelevel.report.charts` draws the charts, from tables alone; `eyelevel.report` places them on the
page.
"""
