"""Metrics of what went over the network: objects, their bytes, connections, handshakes.

One metric a file, a function of the load's record. `objects` also says which of a record's objects
came from the network, and which share of their bytes came without encryption. What came from a
cache or a service worker is in none of them.
"""
