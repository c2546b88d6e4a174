"""The connections of a trial from its logs, TCP and QUIC in one form.

`timeline` begins with a stored trial, finds the connection that was busiest or was asked for, and
gives its packets' course with the objects that it carried. `transport` parses the two kinds of log
into a `Transport`: what the sender knew over time.

Nothing is drawn or logged here: that is the business of `eyelevel.report.charts` and of the data
plane. A log that cannot be read, or a connection that is not there, raises ConnectionLogError.
"""
