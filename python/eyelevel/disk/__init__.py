"""Files and folders: whole under their names or absent, and gone with the process that made them

`whole` writes a file beside its place and renames it; `folders` makes temporary folders; both lock
what they make (`locks`), so that whoever comes next removes what a killed process left, and nothing
else. `cells` keeps spreadsheets from running what a CSV file contains. `steps` tells tests how far
a write has come.
"""
