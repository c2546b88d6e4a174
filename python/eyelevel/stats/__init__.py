"""Comparisons, intervals and corrections; pure functions of numbers."""
