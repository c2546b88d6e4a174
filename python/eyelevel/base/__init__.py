"""Foundations of every package: errors, JSON, settings, the log, readers of untrusted files.

`errors` has every error that callers distinguish, `json_types` the types of JSON values;
`from_outside` reads untrusted files within limits. `settings` declares settings as fields of frozen
dataclasses with their bounds and descriptions, `lab_tables` has the limits of the data plane, and
`verbosity` is the diagnostic log.
"""
