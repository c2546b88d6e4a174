"""Running: from a plan to committed records.

`trial` is one load, from an idle machine to one record with exactly one outcome. `servers` probes
server libraries side by side, without a browser. `study` runs a plan's trials in their order,
interruptibly and resumably, decides when a study may stop, and estimates its cost and sensitivity
beforehand. `level` measures the aspects in which two stacks differ, by trials of its own. `bundle`
packs a run with everything that is needed to repeat it. Each of these may use those named before
it, except that `study` also reads the results of `level`.

Everything that loads a page is here. `eyelevel.sites` finds recorded sites, `eyelevel.validation`
measures the machine, and `eyelevel.analysis` computes the results of a study. Nothing here depends
on the report.
"""
