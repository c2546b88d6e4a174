"""Types of JSON values whose shape is only checked elsewhere.

Records, events of the lab, plan documents and a report's findings are JSON with a contract in
`spec/`, validated by pydantic at the boundary (`store.schema`, `plan`). Between there and the
functions that take them apart they have these types, so that `Any` is used only here and in the few
files that call untyped libraries (`tests/python/test_package.py` lists them).
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object that may be modified."""

JsonMapping: TypeAlias = Mapping[str, Any]
"""A JSON object that is only read."""
