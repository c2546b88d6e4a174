"""Durations as a person says them."""


def duration(seconds: float) -> str:
    """`2 h 05 min`, `3 min 20 s`, `12 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
