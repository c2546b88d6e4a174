"""Pages besides a run's report: probes, single connections, levels and comparisons of runs.

Each takes the results of another package (such as `eyelevel.probes`), draws them by
`eyelevel.report.charts` and wraps them in the same shell as the report: one file, no network, same
style.

Parts of a run's own page are sections (`eyelevel.report.sections`).
"""
