"""Analysis of probes: how long connections take, by protocol, and by how much they differ.

Pure but for reading the files it is given (`reading`). Rows come from `eyelevel probe` or from the
CSVs of Jaeger's thesis (2018); the statistics are those of its chapter 4: rows of one round and
name are paired (`pairing`), shares and quantiles have intervals (`intervals`), `analysis` puts
them together. `targets` and `schedule` read what is to be probed and when.

Nothing is imported here, so that parsing options stays light. Probing itself is the data
plane's (`eyelevel.lab.prober`); the page of a report is `eyelevel.report.pages.probe`.
"""
