"""Write files and folders atomically, and remove what killed processes left.

`whole` writes a temporary file next to its target and renames it; `folders` creates temporary
folders; both lock what they create (`locks`), so that the next process removes what a killed
process left, and nothing else. `cells` keeps spreadsheets from executing the content of a CSV file.
`steps` reports the progress of a write to tests.
"""
