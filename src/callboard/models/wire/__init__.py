"""Models that are asked over HTTP, in the format that their provider speaks.

- ``formats``       one small file for each format: chat completions (any gateway), Responses, Anthropic, Google
- ``conversation``  the conversation in the library's shapes; ``seal`` what a provider wants back with what it said
- ``wire``          one request and its answer as events; ``pieces`` turns the library's events into ours
- ``failures``      what went wrong, in the codes of the contracts; ``quota`` what was said of limits; ``price`` what it cost

``model`` is what the rest of the house sees and costs nothing to import; the others stand on pydantic-ai, whose import takes
a second or two, and are loaded in a thread by the first call or by ``warm``.
"""

from .endpoint import Endpoint, Format
from .model import WireModel

__all__ = ["Endpoint", "Format", "WireModel"]
