"""The typed client of `eyelevel-lab`, and the only package that starts labs.

`client.Lab` is one lab with its path, servers and resolver, from the line of JSON that configures
it to the summary at its end; `Conversation` exchanges lines with its process. `prober` and
`recorder` are clients of its two other services. `binary` finds the program, `confinement` confines
untrusted code.

A lab is a context manager and ends with all its processes, whatever happens. spec/lab-events.md
defines its commands and events; `eyelevel.plan.networks` and `eyelevel.plan` convert networks and
stacks to its settings. Nothing is decided here about a load.
"""
