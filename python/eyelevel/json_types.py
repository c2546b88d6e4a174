"""JSON as it was read or will be written: the border at which values have no type yet.

A record, an event of the lab, a plan's document or a report's findings is JSON whose shape its
contract in `spec/` gives and pydantic checks where it enters (`store.schema`, `plan`). Between
there and the functions that take it apart it goes by these names, so that `Any` stands here and in
the few files that meet libraries without types (`tests/python/test_package.py` lists them).
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""An object that the holder may change."""

JsonMapping: TypeAlias = Mapping[str, Any]
"""An object that is only read."""
