"""Metrics of network traffic: objects, their bytes, connections, handshakes.

There is one metric per file, a function of the load's record. `objects` also selects a record's
objects from the network, and computes the share of their bytes without encryption. Objects from a
cache or a service worker count in none of them.
"""
