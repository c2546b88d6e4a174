"""A recorded load in the formats of other tools: HAR, video, a strip of pictures.

Each file is one format, computed from a trial's record and frames when it is asked for and never
kept: the record stays the only truth. `har` is for tools, `pictures` for people: a video and a
filmstrip.

Nothing here reads a directory; callers give records and frames (`eyelevel.store`). The report's
own JSON and JUnit files are in `eyelevel.report.page` and beside `eyelevel gate`.
"""
