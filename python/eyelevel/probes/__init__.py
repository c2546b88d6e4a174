"""Analysis of probes: how long connections take, by protocol, and by how much they differ.

Pure but for reading the files it is given. Rows come from `eyelevel probe` or from the CSVs of
Jaeger's thesis (2018); the statistics are those of its chapter 4.
"""

from eyelevel.probes.analysis import Analysis, analyse
from eyelevel.probes.errors import ProbeError
from eyelevel.probes.export import to_thesis_csv, write_parquet
from eyelevel.probes.failures import FAILURE_CLASSES
from eyelevel.probes.pairing import Pairs, pair_rows
from eyelevel.probes.reading import SCHEMA, read_file, read_files

__all__ = [
    "FAILURE_CLASSES",
    "SCHEMA",
    "Analysis",
    "Pairs",
    "ProbeError",
    "analyse",
    "pair_rows",
    "read_file",
    "read_files",
    "to_thesis_csv",
    "write_parquet",
]
