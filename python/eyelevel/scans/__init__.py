"""Scans: which names are asked for, and what their rows amount to.

Pure but for reading the files it is given, and light: a scan of a million names runs for days.
"""
