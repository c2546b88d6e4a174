import pytest

from eyelevel.lab.client import Ready, needs_no_resolver


@pytest.mark.parametrize("host", ["127.0.0.1", "192.168.1.2", "[::1]", "localhost", "a.localhost"])
def test_hosts_that_no_resolver_is_asked_for(host: str) -> None:
    assert needs_no_resolver(host)


@pytest.mark.parametrize("host", ["a.example", "notlocalhost", "127.0.0.1.example", "1.2.3"])
def test_hosts_of_the_resolver(host: str) -> None:
    assert not needs_no_resolver(host)


def test_a_lab_says_where_such_hosts_are_unless_they_say_it_themselves() -> None:
    hosts = {"127.0.0.1": "198.18.1.0", "192.0.2.7": "192.0.2.7", "a.example": "192.0.2.8"}
    origins = [{"host": host, "address": at} for host, at in hosts.items()]
    assert Ready.of({"origins": origins}).own_hosts() == (("127.0.0.1", "198.18.1.0"),)
