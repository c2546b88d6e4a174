"""What stands below the gains, collapsed: further numbers about the same comparisons."""

from eyelevel.report.contents import Contents
from eyelevel.report.gain_p_values import p_values_details
from eyelevel.report.html import Markup, element
from eyelevel.report.other_sites import other_sites_details
from eyelevel.report.restricted_table import restricted_details


def gain_details(contents: Contents) -> Markup:
    """Nothing where there is nothing to say."""
    parts = (restricted_details, p_values_details, other_sites_details)
    found = [said for said in (part(contents) for part in parts) if said]
    if not found:
        return Markup("")
    return element("section", *found, aria_label="more about the gains")
