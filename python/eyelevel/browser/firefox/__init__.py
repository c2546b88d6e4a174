"""Firefox over WebDriver BiDi: one load from the start of its process to its end.

`load` leads through it. `process` starts a Firefox with the `preferences` of a load and ends it;
`bidi` speaks the protocol over a WebSocket; `tab` is the one tab, its page and its end;
`network_log` reads the events; `input` scrolls, clicks and runs scripts after the load;
`blocked_hosts` is an extension that is only a list.

Firefox gives no pictures of its own, so `screen` films an Xvfb by ffmpeg. What Chromium needs too
is one folder above.
"""
