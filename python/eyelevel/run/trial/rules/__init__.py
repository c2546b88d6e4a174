"""The rules by which a load is judged, one per file; pure.

A rule gets what was observed and what the stack says, and answers in a sentence what is otherwise;
an empty one means that it holds. `starved` has the bounds of suspensions and late
packets; the others hold the wire against the stack: first flights and windows, ECN
marks, and what somebody else's server did not give.

Which outcome follows, and in which order rules are asked, is decided in
`eyelevel.run.trial.judge`.
"""
