"""The typed client of `eyelevel-lab`, and the only place that starts it.

`binary` finds the program. `client.Lab` is one lab with its path, servers and resolver, from the
line of JSON that builds it to the summary at its end; `conversation` exchanges the lines between.
`prober` and `recorder` are its two other services.

A lab is a context manager and vanishes with its processes, whatever happens. What a lab is told
and what it answers is spec/lab-events.md; how networks and stacks become its settings is the
business of `eyelevel.networks` and `eyelevel.plan`. Nothing is decided here about a load.
"""
