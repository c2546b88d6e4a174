"""Metrics of the frames: what changed on the screen, and when.

There is one metric per file, a function of the visual history, which `history` computes from a
load's frames in one pass. `boxes`, `edges` and `structural_similarity` compare images; several
metrics are areas and times of the curve in `visual_progress`.
"""
