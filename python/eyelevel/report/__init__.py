"""The report page, built from a directory of records alone."""
