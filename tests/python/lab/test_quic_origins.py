"""Which origins a browser is told to reach by QUIC."""

from eyelevel.lab.client import Ready


def ready(*origins: str) -> Ready:
    told = []
    for origin in origins:
        scheme, _, place = origin.partition("://")
        host, _, port = place.partition(":")
        told.append({"scheme": scheme, "host": host, "port": int(port)})
    return Ready.of({"origins": told})


def test_every_secure_origin_is_reached_by_quic():
    found = ready("https://a.test:443", "https://b.test:8443").quic_origins()
    assert set(found) == {"a.test:443", "b.test:8443", "b.test:443"}


def test_a_host_of_http_alone_is_a_miss_over_quic_as_over_tcp():
    found = ready("http://plain.test:80", "https://a.test:443", "http://a.test:80").quic_origins()
    assert found == ("a.test:443", "plain.test:443")


def test_without_a_server_on_the_port_of_https_nothing_is_added():
    assert ready("http://plain.test:80", "https://a.test:8443").quic_origins() == ("a.test:8443",)
    assert ready("http://plain.test:80").quic_origins() == ()
