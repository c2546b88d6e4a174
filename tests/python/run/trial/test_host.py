from pathlib import Path

from eyelevel.run.trial.host import MACHINE_PRESSURE, HostSample, pressure_file


def test_pressure_is_our_cgroups_where_it_is_counted(tmp_path: Path):
    own = tmp_path / "cgroup"
    mounts = (tmp_path / "v2", tmp_path / "unified")
    own.write_text("5:memory:/elsewhere\n0::/user.slice/run.scope\n")
    assert pressure_file(own, mounts) == MACHINE_PRESSURE
    counted = mounts[1] / "user.slice/run.scope"
    counted.mkdir(parents=True)
    (counted / "cpu.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
    assert pressure_file(own, mounts) == counted / "cpu.pressure"
    own.write_text("0::/\n")  # the root's is the machine's
    (mounts[1] / "cpu.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
    assert pressure_file(own, mounts) == MACHINE_PRESSURE
    assert pressure_file(tmp_path / "absent", mounts) == MACHINE_PRESSURE


def test_shares_are_of_the_time_between_two_samples():
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    before = HostSample(dict.fromkeys(names, 0), 1_000_000, 10.0, "cgroup")
    ticks = dict.fromkeys(names, 0) | {"idle": 60, "user": 30, "steal": 10}
    found = before.until(HostSample(ticks, 1_500_000, 11.0, "cgroup"))
    assert found["cpu_steal_share"] == 0.1 and found["cpu_busy_share"] == 0.4
    assert found["cpu_pressure_share"] == 0.5 and found["cpu_pressure_of"] == "cgroup"
