"""Plan files that are no plans: each ends in one line that says where and what."""

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.cli.run.plan_text import read_plan

PLAN = 'sites = ["{site}"]\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\nreference = "tcp"\n'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'title = "a"\nsites = ["\xe9"]\n', "plan.toml:2: not UTF-8 (byte 0xe9); save the file"),
        (b"a = " + b"[" * 20_000, "plan.toml: its arrays or tables are nested too deep"),
        (b"blocks = " + b"9" * 5000, "plan.toml: a number in it has too many digits"),
        (
            (PLAN.format(site="a\\u0000b.wacz") + "blocks = 2\n").encode(),
            "plan.toml:1: site 'a\\x00b.wacz' has a character that none can have",
        ),
        (
            (PLAN.format(site="\\u009b2Ja.wacz") + "blocks = 2\n").encode(),
            "plan.toml:1: site '\\x9b2Ja.wacz' has a character that none can have",
        ),
    ],
)
def test_each_is_refused_in_one_line(tmp_path, content, said):
    file = tmp_path / "plan.toml"
    file.write_bytes(content)
    with pytest.raises(PlanError) as refused:
        read_plan(str(file), [])
    text = str(refused.value)
    assert said in text and "\n" not in text and text.isprintable()
