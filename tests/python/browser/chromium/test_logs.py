import json

from eyelevel.browser.chromium.logs import with_its_end

WHOLE = b'{"constants": {"a": 1},\n"events": [\n{"type": 1},\n{"type": 2}],\n"polledData": {}}\n'


def test_a_network_log_that_was_broken_off_is_json_again():
    assert with_its_end(WHOLE) == WHOLE
    for cut in range(WHOLE.index(b"\n", WHOLE.index(b'"type": 1')) + 1, len(WHOLE) - 2):
        events = json.loads(with_its_end(WHOLE[:cut]))["events"]
        assert events[0] == {"type": 1}
