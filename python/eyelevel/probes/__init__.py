"""Analysis of probes: how long connections take, by protocol, and by how much they differ.

Pure but for reading the files it is given. Rows come from `eyelevel probe` or from the CSVs of
Jaeger's thesis (2018); the statistics are those of its chapter 4. Nothing is imported here, so that
what parses options alone stays light.
"""
