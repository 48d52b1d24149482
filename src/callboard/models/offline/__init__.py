"""Where no model is configured: a search that asks for tools like any model, and says that it is none.

``words`` takes what to look for out of a prompt, ``findings`` reads the results of tools, ``steps`` decides what is next from
the request alone, ``texts`` says it in English or Chinese.
"""

from .model import NAME, PROVIDER, Offline

__all__ = ["NAME", "PROVIDER", "Offline"]
