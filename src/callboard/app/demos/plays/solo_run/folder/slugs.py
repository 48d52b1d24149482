"""Names for URLs out of titles."""

import re


def slugify(title: str) -> str:
    """The title in small letters, with one hyphen for everything that is neither a letter nor a digit."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
