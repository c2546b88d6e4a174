"""Find out whether a load's HTTP/3 responses name HTTP/3 (RFC 7838), as its browser saw them."""

from eyelevel.store.directory import StoredTrial
from eyelevel.store.packed import read_messages

FIELD = "alt-svc"


def lacks_alt_svc(trial: StoredTrial) -> bool:
    """Return whether the page's document came over HTTP/3 without the field; False if unknown.

    Raises StoreError for damaged messages.
    """
    objects = trial.record["objects"]
    for item, message in zip(objects, read_messages(trial.path, len(objects)) or (), strict=False):
        if item["resource_type"] == "Document" and item["protocol"] == "h3" and message:
            return all(name.lower() != FIELD for name, _ in message["response_fields"])
    return False
