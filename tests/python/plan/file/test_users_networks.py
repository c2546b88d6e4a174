from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.from_csv import networks_from_csv, toml_of

REST = 'sites = ["a"]\nstacks = ["tcp"]\nreference = "tcp"\nblocks = 2\n'


def test_what_from_csv_prints_is_a_plans_networks():
    made = networks_from_csv("percentile,rtt_ms,down_mbit_s\n25,30,40\n50,60,20\n95,400,1.2\n", "f")
    parsed = parse_plan(REST + toml_of(made), "plan.toml")
    assert parsed.networks == tuple(each.network for each in made)
