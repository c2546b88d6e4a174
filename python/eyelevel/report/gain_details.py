"""What stands below the gains, collapsed: further numbers about the same comparisons."""

from eyelevel.report.contents import Contents
from eyelevel.report.gain_p_values import p_values_details
from eyelevel.report.html import Markup, element
from eyelevel.report.other_sites import other_sites_details


def gain_details(contents: Contents) -> Markup:
    """Nothing where there is nothing to say."""
    found = [each for each in (p_values_details(contents), other_sites_details(contents)) if each]
    if not found:
        return Markup("")
    return element("section", *found, aria_label="more about the gains")
