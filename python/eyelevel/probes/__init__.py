"""Analyse probes: connection times by protocol, and their differences.

Pure except for `reading`, which reads files. Rows come from `eyelevel probe` or from the CSVs of
Jaeger's thesis (2018); the statistics are those of its chapter 4: rows of one round and name are
paired (`pairing`), shares and quantiles have intervals (`intervals`), and `analysis` combines them.
`targets` parses what to probe and when. `scans` summarises queries of many names.

Nothing is imported here, so that parsing options stays cheap. Probing itself is done by the data
plane (`eyelevel.lab.prober`); the report's page is `eyelevel.report.pages.probe`.
"""
