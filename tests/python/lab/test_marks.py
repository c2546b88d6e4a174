from eyelevel.lab.client import with_marks

COUNTS = {"not_ect": 1, "ect0": 2, "ect1": 0, "ce": 0, "marked": 1}
CLIENT, SERVER = "100.64.0.2:4000", "192.0.2.1:443"


def test_a_connection_gets_the_counts_of_its_own_ends_and_transport():
    path = {
        "down": {"ecn": COUNTS},
        "connections": [
            {"protocol": "tcp", "client": CLIENT, "server": SERVER, "down": COUNTS, "up": {}},
            {"protocol": "udp", "client": CLIENT, "server": SERVER, "down": {}, "up": COUNTS},
        ],
    }
    ends = {"client": CLIENT, "address": SERVER}
    found, rest = with_marks(
        [
            {"connection": 0, "protocol": "h2", **ends},
            {"connection": 1, "protocol": "h3", **ends},
            {"connection": 2, "protocol": "http/1.1", "client": None, "address": SERVER},
        ],
        path,
    )
    assert [each["ecn"] for each in found] == [
        {"down": COUNTS, "up": {}},
        {"down": {}, "up": COUNTS},
        None,
    ]
    assert rest == {"down": {"ecn": COUNTS}}
