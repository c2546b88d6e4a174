"""A recorded load in the formats of other tools: HAR, video, filmstrip.

Each file is one format, computed from a trial's record and frames on demand and never stored: the
record is the only source. `har` is for tools, `pictures` for viewers: a video and a filmstrip.

Nothing here reads a directory; callers provide records and frames (`eyelevel.store`). The report's
own JSON and JUnit files are in `eyelevel.report.page` and beside `eyelevel gate`.
"""
