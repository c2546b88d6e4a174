"""Metrics from the browser's reports: times of its navigation, paints, tasks and layout shifts.

There is one metric per file, a function of the load's record; None if the browser did not report
it. Largest Contentful Paint has its parts in a file of their own. Times are from navigation start,
except for Total Blocking Time, which is a sum of durations.
"""
