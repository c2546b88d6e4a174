from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.stages import describe

STAGES = (
    {"stage": "trace", "trace": "sha256:aa", "queue": {"discipline": "codel"}},
    {"stage": "made_up", "of": {"any": {"shape": "sha256:bb"}}, "name": "sha1:cc"},
)


def test_digests_become_files_in_stages_of_any_shape():
    network = Network("mine", 1, 0, 0.0, 0.0, stages_down=STAGES, stages_up=())
    again = Network.read(network.stated())
    assert again == network
    path = lab_path(again, {"aa": "/there/lte.down", "bb": "/there/d.txt"})
    assert path["down"][0]["trace"] == "/there/lte.down" and path["up"] == []
    assert path["down"][1] == STAGES[1] | {"of": {"any": {"shape": "/there/d.txt"}}}


def test_they_are_described_in_one_line():
    queue = {"discipline": "droptail", "limit_ms": 200.0, "limit_packets": 10}
    rate = {"stage": "rate", "rate_bit_s": 10_000_000, "queue": queue}
    assert describe([{"stage": "delay", "delay_ms": 20.0}, rate]) == (
        "delay delay_ms 20, rate rate_bit_s 10000000 queue droptail limit_ms 200.0 limit_packets 10"
    )
    assert describe([]) == "nothing"
