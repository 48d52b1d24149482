"""Models over HTTP, in the wire format of their provider.

Modules:
    model, endpoint: A model of a provider. Only these are cheap to import: the others need pydantic-ai, whose import takes
        one or two seconds. The first call or `warm` loads them in a thread.
    wire: A request and the events of its response, with `pieces`, `thinking` and `finish`.
    formats: The wire formats: chat completions (any gateway), Responses, Anthropic, Google.
    conversation, images, seal: The conversation in the library's types.
    history: Encoded parts of conversations, for later requests.
    failures, waits, quota, price: Errors, limits and costs of a call.
"""

from .endpoint import Endpoint, Format
from .model import WireModel

__all__ = ["Endpoint", "Format", "WireModel"]
