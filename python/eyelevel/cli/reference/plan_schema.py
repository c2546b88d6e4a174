"""Generate the JSON Schema of a plan file."""

from eyelevel.base.json_types import JsonObject
from eyelevel.plan.file.model import PlanFile


def plan_schema() -> JsonObject:
    """Return the JSON Schema of a plan file, for editors."""
    schema = PlanFile.model_json_schema()
    for key in ("networks", "stacks"):
        items = schema["properties"][key]["items"]
        schema["properties"][key]["items"] = {"anyOf": [{"type": "string"}, items]}
    for properties in (schema["properties"], schema["$defs"]["NetworkTable"]["properties"]):
        cross_traffic = properties["cross_traffic"]
        one = {"$ref": "#/$defs/CrossTraffic"}
        cross_traffic["anyOf"] = [{"const": "none"}, one, *cross_traffic["anyOf"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
