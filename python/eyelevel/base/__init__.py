"""What every package stands on: errors, JSON, settings, the log, and readers of files from outside.

`errors` has every error that callers tell apart, `json_types` the types of JSON; `from_outside`
reads files from elsewhere within bounds. `settings` declares fields of frozen dataclasses with
their bounds and phrases, `lab_tables` has the limits that the data plane was built with, and
`verbosity` is the diagnostic log.
"""
