"""A search with tools, used as a model while none is configured.

Modules:
    model: The port of a model.
    steps: The next step for a request.
    words: The words to search for in a prompt.
    findings: The lines in the results of tools.
    texts: The texts of answers in English and Chinese.
"""

from .model import NAME, PROVIDER, Offline

__all__ = ["NAME", "PROVIDER", "Offline"]
