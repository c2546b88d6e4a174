"""Read pictures from files, and put them side by side.

`video` decodes any recorded video by ffmpeg into the frames that visual metrics take; `beside`
puts two pictures beside one another and says by how much they differ, for `eyelevel site check`.

Frames of our own loads are not files of this kind: `eyelevel.store` keeps and reads them. Metrics
of a video are `eyelevel.analysis.metrics.video`.
"""
