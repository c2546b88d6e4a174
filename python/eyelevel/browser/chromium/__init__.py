"""Chromium over the DevTools protocol: one load from the start of its process to its end.

Start reading at `load`. `process` starts a Chromium with a debugging pipe and ends it; `devtools`
is the client on that pipe; `page_setup` sets viewport, device and conditions; `first_visit` makes
the visit before a measured one; `capture`, `network_log` and `logs` observe;
`input` scrolls, clicks and runs scripts after the load.

Event readers are pure: they are fed every event and are queried at the end. `request_scheduling`
runs after the load and reads from Chromium's network log which requests its scheduler held back.
Code shared with Firefox is in the parent package.
"""
