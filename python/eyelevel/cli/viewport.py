"""A viewport as people write it."""


def viewport_px(text: str) -> tuple[int, int]:
    """Width and height in CSS pixels of `1366x768`; raises ValueError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise ValueError(f"the viewport `{text}` is not WIDTHxHEIGHT, like 1366x768")
    return int(width), int(height)
