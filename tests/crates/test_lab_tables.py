import subprocess
from pathlib import Path

import eyelevel
from eyelevel.lab.binary import find_binary


def test_the_file_in_the_package_is_what_the_built_data_plane_says():
    written = (Path(eyelevel.__file__).parent / "base" / "lab_tables.json").read_text(
        encoding="utf-8"
    )
    said = subprocess.run([find_binary(), "tables"], capture_output=True, text=True, check=True)
    assert written == said.stdout, "run: scripts/lab-tables"
