"""Running: from a plan to committed records.

`trial` is one load, from an empty machine to one record with exactly one outcome. `servers` probes
libraries of servers side by side, without a browser. `study` runs a plan's trials in their order,
interruptibly and resumably, decides when a study may stop, and says before it begins what it costs
and can show. `level` measures in what two stacks differ, by trials of its own. `bundle` packs a run
with all that it takes to repeat it. Each of these may use those named before it, except that
`study` also reads what `level` kept.

Everything that loads a page is here; recorded sites are found by `eyelevel.sites`, the machine is
measured by `eyelevel.validation`, and what a study says is computed by `eyelevel.analysis`. The
report is not known here.
"""
