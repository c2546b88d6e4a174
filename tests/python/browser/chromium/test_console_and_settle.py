"""Console errors; waiting for an idle browser in virtual time."""

from eyelevel.browser import waiting as settle_module
from eyelevel.browser.chromium.load import ERRORS_MAX, LENGTH_MAX, ConsoleErrors
from eyelevel.browser.waiting import settle


def test_errors_of_three_kinds_are_kept_and_others_are_not():
    console = ConsoleErrors()
    entry = {"level": "error", "text": "404", "url": "https://a.test/x"}
    console.handle_event("Log.entryAdded", {"entry": entry})
    console.handle_event("Log.entryAdded", {"entry": {"level": "warning", "text": "w"}})
    arguments = [{"value": "lost"}, {"description": "Error: gone"}]
    console.handle_event("Runtime.consoleAPICalled", {"type": "error", "args": arguments})
    console.handle_event("Runtime.consoleAPICalled", {"type": "log", "args": arguments})
    details = {"text": "Uncaught", "exception": {"description": "TypeError: x"}}
    console.handle_event("Runtime.exceptionThrown", {"exceptionDetails": details})
    console.handle_event("Page.loadEventFired", {})
    assert console.texts == ["404 https://a.test/x", "lost Error: gone", "TypeError: x"]


def test_an_endless_loop_of_errors_is_bounded():
    console = ConsoleErrors()
    for _ in range(ERRORS_MAX + 50):
        event = {"type": "error", "args": [{"value": "x" * 5000}]}
        console.handle_event("Runtime.consoleAPICalled", event)
    assert len(console.texts) == ERRORS_MAX
    assert {len(text) for text in console.texts} == {LENGTH_MAX}


class Machine:
    """Virtual time; the CPU is used until `busy_until_s`."""

    def __init__(self, busy_until_s: float) -> None:
        self.now_s = 0.0
        self.busy_until_s = busy_until_s

    def monotonic(self) -> float:
        return self.now_s

    def cpu_s(self) -> float:
        return min(self.now_s, self.busy_until_s)

    def pump(self, until_s: float) -> bool:
        self.now_s = max(self.now_s, until_s)
        return False


def settled_after(monkeypatch, busy_until_s: float, ready_at_s: float) -> tuple[bool, float]:
    machine = Machine(busy_until_s)
    monkeypatch.setattr(settle_module, "time", machine)
    result = settle(machine.cpu_s, machine.pump, lambda: machine.now_s >= ready_at_s)
    return result, machine.now_s


def test_it_waits_for_two_idle_windows(monkeypatch):
    settled, at_s = settled_after(monkeypatch, busy_until_s=0.4, ready_at_s=0.0)
    assert settled
    assert 0.49 <= at_s <= 0.56


def test_it_waits_for_the_first_picture(monkeypatch):
    settled, at_s = settled_after(monkeypatch, busy_until_s=0.0, ready_at_s=0.7)
    assert settled
    assert 0.69 <= at_s <= 0.76


def test_it_gives_up(monkeypatch):
    settled, at_s = settled_after(monkeypatch, busy_until_s=60.0, ready_at_s=0.0)
    assert not settled
    assert at_s <= settle_module.SETTLE_TIMEOUT_S
