"""Convert host names to their form in DNS, by UTS 46 like browsers.

Python's codec `idna` is IDNA 2003: it maps `straße.test` to `strasse.test`, which is another host.
"""

import re
import unicodedata

_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.?", re.ASCII)
"""A name in DNS, or an IPv4 address, which has the same form. Each label ends at its dot, so
that an invalid line is rejected in linear time.
"""

_PUNYCODE = "xn--"
_JOINERS = "\u200c\u200d"


def name_in_dns(name: str) -> str:
    """Return the name in lower case and ASCII, by UTS 46 without transitional mappings.

    An ASCII name is only lower-cased. Raises `ValueError` with the reason if a browser would refuse
    it.
    """
    if name.isascii():
        return name.lower()
    # Importing its tables takes a tenth of a second, and few lists need them.
    import idna

    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        labels = [_decode_label(label) for label in mapped.split(".")]
        is_bidi = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in "".join(labels))
        for label in filter(None, labels):
            idna.check_initial_combiner(label)
            idna.check_bidi(label, check_ltr=is_bidi)
            _check_joiners(label)
        return ".".join(_encode_label(label) for label in labels)
    except idna.IDNAError as error:
        raise ValueError(str(error)) from error


def spell_in_dns(name: str) -> str:
    """Return `name_in_dns`, or the name unchanged if a browser would refuse it."""
    try:
        return name_in_dns(name)
    except ValueError:
        return name


def _decode_label(label: str) -> str:
    """Return a label's characters; Punycode must decode to a text that UTS 46 maps to itself."""
    import idna

    if not label.startswith(_PUNYCODE):
        return label
    text = label.removeprefix(_PUNYCODE).encode("ascii").decode("punycode")
    if text.isascii() or idna.uts46_remap(text, std3_rules=False, transitional=False) != text:
        raise ValueError(f"`{label}` is no Punycode of a name")
    return text


def _encode_label(label: str) -> str:
    return label if label.isascii() else _PUNYCODE + label.encode("punycode").decode("ascii")


def _check_joiners(label: str) -> None:
    import idna

    for place, character in enumerate(label):
        if character in _JOINERS and not idna.valid_contextj(label, place):
            raise ValueError("a joiner stands where it joins nothing")
