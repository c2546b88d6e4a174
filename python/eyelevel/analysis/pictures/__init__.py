"""Read images and videos from files, and put images side by side.

`video` decodes any recorded video by ffmpeg into thumbnails for visual metrics; `beside` puts two
images side by side and measures their difference, for `eyelevel site check`.

Frames of our own loads are in `eyelevel.store`, and metrics of a video in
`eyelevel.analysis.metrics.video`.
"""
