import json

from path_log_bytes import THREE, own

from eyelevel.analysis.pathlog import read_log
from eyelevel.report.charts.connection_charts import path_chart


def test_the_chart_draws_capacity_throughput_delay_and_drops():
    spec = json.dumps(path_chart([read_log(own(THREE), "down.log")], "a path"))
    for word in ("capacity", "arriving", "leaving", "queueing delay", "1 packets dropped"):
        assert word in spec
