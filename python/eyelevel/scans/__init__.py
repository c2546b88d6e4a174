"""Scans: which names to ask, and what their answers amount to.

`names` reads lists and who does not want to be asked, `summary` counts what rows say of each
feature, with intervals. Pure but for reading the files it is given, and light: a scan of a million
names runs for days, row by row.

Asking is the data plane's (`eyelevel.lab.prober`); what is shown meanwhile is in
`eyelevel.cli.probe.scan`.
"""
