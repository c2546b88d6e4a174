"""Metrics of the pictures: what changed on the screen, and when.

One metric a file, a function of the visual history, which `history` makes of a load's frames in one
reading. `boxes`, `edges` and `structural_similarity` hold pictures against each other;
`visual_progress` is the curve of which several metrics are areas and times.
"""
