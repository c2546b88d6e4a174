"""Whole pages beside a run's report: of probes, and of single connections.

Each takes what another package computed (`eyelevel.probes`, `eyelevel.connections`), draws it by
`eyelevel.figures` and puts it into the same shell as the report: one file, no network, same style.

They know nothing of a run's contents; what belongs to a run is a section
(`eyelevel.report.sections`).
"""
