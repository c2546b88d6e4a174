"""The papers' figures and tables from a run: rows, and the charts that are drawn from them.

`catalogue` is the one table of them: name, caption, rows, chart. The other files make the rows,
one family of figures each: those of Das 2014, break-even maps, single objects and origins, loads
whose metrics disagree, what the downlink carried, waterfalls, and the filmstrips of typical loads.

Charts come from `eyelevel.figures`, which knows tables alone; where a figure stands on the page is
the business of `eyelevel.report`.
"""
