"""Firefox over WebDriver BiDi: one load from the start of its process to its end.

Start reading at `load`. `process` starts a Firefox with the preferences of a load, and an extension
that consists of a block list only, and ends it; `bidi` speaks the protocol over a WebSocket; `tab`
drives the one tab until the load ends and reads the events; `input` scrolls, clicks and runs
scripts after the load.

Firefox provides no frames, so `screen` records an Xvfb with ffmpeg. Code shared with Chromium is in
the parent package.
"""
