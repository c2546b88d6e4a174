"""What the browser's observations become is what the schema takes."""

from sample_record import sample_object, sample_record

from eyelevel.browser.observations import Interaction, Navigation, ObjectLoad, StepLoad
from eyelevel.store.directory import check_record
from eyelevel.store.schema import InteractionEntry, LoadedObject, StepEntry
from eyelevel.store.schema import Navigation as NavigationEntry


def test_observations_are_taken_as_the_browser_gives_them():
    spans = ((100.0, 60.0), (300.0, 70.0))
    told = {**sample_object(connect_ms=(1.0, 2.0)), "source": "network"}
    given = {name: told[name] for name in ObjectLoad.__slots__ if name in told}
    loaded = ObjectLoad(**given, from_early_hints=True)
    clicked = (Interaction("click", 1.0, 0.5, 100.0, 104.0),)
    seen = {"interactions": clicked, "interaction_count": 1, "objects": (loaded,)}
    step = StepLoad("click a", 1.0, 2.0, **seen).as_record()
    navigation = Navigation(long_tasks_ms=spans, timer_gaps_ms=spans)
    record = sample_record() | {
        "navigation": navigation.as_record(),
        "objects": [loaded.as_record()],
        "after_load": [{**step, "frames": []}],
        "browser": {"final_picture": None, "navigation_start_ns": 0},
    }
    check_record(record, "the record")
    assert set(record["navigation"]) == set(NavigationEntry.__annotations__)
    assert set(loaded.as_record()) == set(LoadedObject.__annotations__)
    assert set(step["interactions"][0]) == set(InteractionEntry.__annotations__)
    assert {*step, "frames"} == set(StepEntry.__annotations__)
