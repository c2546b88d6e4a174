"""The rules that judge a load, one per file; pure.

A rule compares observations with the stack's settings, and returns a violation as a sentence; empty
if there is none. `starved` has the bounds of suspensions and late packets; others compare the wire
with the stack: first flights and windows, ECN marks, and failures of external servers.

`eyelevel.load.judge` has the outcome of each rule and their order.
"""
