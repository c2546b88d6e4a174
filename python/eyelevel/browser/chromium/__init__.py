"""Chromium over the DevTools protocol: one load from the start of its process to its end.

`load` leads through it. `process` starts a Chromium with a debugging pipe and ends it; `devtools`
is the client on that pipe; `page_setup` says what the page is shown in; `first_visit` is the visit
before a measured one; `capture`, `network_log`, `console`, `logs` and `timings` observe; `input`
scrolls, clicks and runs scripts after the load.

Event readers are pure: they take every event and answer at the end. `request_scheduling` reads
afterwards, from Chromium's own network log, what its scheduler held back. What Firefox needs too is
one folder above.
"""
