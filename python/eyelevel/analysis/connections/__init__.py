"""The connections of a trial from its logs, TCP and QUIC in one form.

`timeline` reads a stored trial, selects the busiest connection or a given one, and returns its
transport over time with the objects that it carried. `transport` parses the two kinds of log into a
`Transport`: the sender's state over time.

`eyelevel.report.charts` draws these; the data plane writes the logs. A log that cannot be read, or
a missing connection, raises ConnectionLogError.
"""
