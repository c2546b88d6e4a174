"""Recordings by name and path, and what is said of one that is not there."""

import shutil
from pathlib import Path

import pytest
from labs import CORPUS

from eyelevel.base.errors import LabError
from eyelevel.sites.recorded import open_site


def test_a_missing_recording_is_answered_with_the_nearest_beside_it(tmp_path: Path) -> None:
    shutil.copy(CORPUS / "plain.wacz", tmp_path / "shop.wacz")
    (tmp_path / "shp.txt").write_text("no recording")
    with pytest.raises(LabError, match=r"shp\.wacz: there is no such file; did you mean `.*shop.w"):
        open_site(str(tmp_path / "shp.wacz"))
    assert open_site(str(tmp_path / "shop.wacz")).name == "shop"
    with pytest.raises(LabError, match="check its name"):
        open_site(str(tmp_path / "entirely-different.wacz"))
