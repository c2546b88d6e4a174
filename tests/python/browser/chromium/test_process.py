"""The browser's command line."""

import pytest

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.chromium.process import (
    AS_RECORDED_DISABLED,
    AS_RECORDED_ENABLED,
    DISABLED_FEATURES,
    FLAGS,
    PROTOCOL_FLAGS,
    TCP_EARLY_DATA,
    browser_arguments,
    find_executable,
)


def arguments(http_version: str) -> list[str]:
    origins = ("a.test:443", "b.test:8443")
    return browser_arguments(http_version, origins, "c3Bracw==", (1280, 720))


def test_quic_is_forced_on_listed_origins_and_off_elsewhere():
    assert "--origin-to-force-quic-on=a.test:443,b.test:8443" in arguments("h3")
    for http_version in ("h1", "h2"):
        assert "--disable-quic" in arguments(http_version)
        assert not any("force-quic" in argument for argument in arguments(http_version))
    assert "--disable-http2" in arguments("h1")
    assert "--disable-http2" not in arguments("h2")


def test_a_host_that_is_to_be_found_over_quic_is_trusted_on_a_port_that_nobody_uses():
    origins = ("a.test:443", "a.test:8443", "[2001:db8::1]:443")
    found = browser_arguments("h3", origins, None, (1280, 720), finds_quic=True)
    assert "--origin-to-force-quic-on=a.test:1,[2001:db8::1]:1" in found


def test_hosts_that_no_resolver_is_asked_for_are_taken_to_the_lab():
    places = (("127.0.0.1", "198.18.1.0"), ("localhost", "198.18.1.1"))
    given = browser_arguments("h1", (), None, (1280, 720), own_hosts=places)
    rules = "--host-resolver-rules=MAP 127.0.0.1 198.18.1.0,MAP localhost 198.18.1.1"
    assert rules in given
    assert not any("host-resolver" in argument for argument in arguments("h1"))


def test_one_key_is_trusted():
    assert "--ignore-certificate-errors-spki-list=c3Bracw==" in arguments("h2")
    assert "--ignore-certificate-errors" not in arguments("h2")


def test_every_flag_is_given_once_and_has_a_reason():
    flags = [*FLAGS, *DISABLED_FEATURES, AS_RECORDED_DISABLED, AS_RECORDED_ENABLED]
    for protocol_flags in PROTOCOL_FLAGS.values():
        flags += protocol_flags
    assert all(flag.reason for flag in flags)
    names = [argument.split("=")[0] for argument in arguments("h3")]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("kind", "said"), [("slow-2g", "Slow-2G"), ("2g", "2G"), ("3g", "3G"), ("4g", "4G")]
)
def test_a_connection_type_is_forced_by_chromiums_name(kind: str, said: str):
    given = browser_arguments("h2", (), None, (1280, 720), effective_connection_type=kind)
    assert f"--force-effective-connection-type={said}" in given


def test_without_one_chromium_estimates():
    assert not any("connection-type" in argument for argument in arguments("h2"))


def test_replays_alone_ask_for_http_what_was_recorded_so():
    for early_data in (False, True):
        given = browser_arguments(
            "h2", (), None, (1280, 720), early_data=early_data, as_recorded=True
        )
        features = {
            name: values.split(",")
            for name, _, values in (argument.partition("=") for argument in given)
            if name.endswith("-features")
        }
        assert "HstsTopLevelNavigationsOnly" in features["--enable-features"]
        assert (TCP_EARLY_DATA in features["--enable-features"]) == early_data
        assert {"HttpsUpgrades", "AutoupgradeMixedContent"} <= set(features["--disable-features"])
        live = browser_arguments("h2", (), None, (1280, 720), early_data=early_data)
        assert not any("Hsts" in one or "Autoupgrade" in one for one in live)


def test_a_plans_features_join_ours_since_only_the_last_of_a_switch_counts():
    own = ["--disable-features=A,B", "--enable-features=C", "--disable-features=D"]
    usual = browser_arguments("h2", (), None, (1280, 720))
    found = browser_arguments("h2", (), None, (1280, 720), own_flags=own)
    switches = [argument.partition("=")[0] for argument in found]
    assert len(set(switches)) == len(switches)
    disabled = next(each for each in found if each.startswith("--disable-features="))
    assert disabled == next(each for each in usual if each in disabled) + ",A,B,D"
    assert "--enable-features=C" in found
    trials = browser_arguments(
        "h2",
        (),
        None,
        (1280, 720),
        own_flags=["--force-fieldtrials=A/B", "--force-fieldtrials=C/D"],
    )
    assert "--force-fieldtrials=A/B/C/D" in trials


def test_a_build_that_is_not_there_is_named():
    with pytest.raises(BrowserStartError, match="at /nowhere/chromium and found no program"):
        find_executable("/nowhere/chromium")
