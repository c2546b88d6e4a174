"""What the logs of a trial say of its connections, TCP and QUIC as one shape.

`timeline` begins with a stored trial, finds the connection that was busiest or was asked for, and
gives its packets' course with the objects that it carried. `tcp_info` and `qlog` parse the two
kinds of log into a `transport.Transport`: what the sender knew over time.

Reading only: drawing is the business of `eyelevel.figures`, logging that of the data plane. A log
that cannot be read, or a connection that is not there, raises ConnectionLogError.
"""
