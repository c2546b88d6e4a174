"""Metrics from the browser's reports: times of its navigation, paints, tasks and layout shifts.

One metric a file, a function of the load's record; None if the browser did not tell. Largest
Contentful Paint has its parts in a file of their own. Times are from navigation start but for Total
Blocking Time, which is a sum of durations.
"""
