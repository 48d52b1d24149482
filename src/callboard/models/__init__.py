"""How a model is asked: every model stands behind the port in ``contracts.ports.model``.

- ``registry``            the models that are configured, and which of them a run asks; ``book`` is one configuration
- ``wire``                models that are asked over HTTP, in the format of their provider
- ``scripted``            a scenario file in place of a model; ``scenario`` is its format
- ``recorded``            the answers of a former run in place of a model; ``recording`` reads them
- ``offline``             a search, where no model is configured
- ``retry``               whether and when a failed call is tried again; the caller tries, and records each attempt
- ``turn``                what a request says of its turn, for models that hold nothing between calls

Answers are typed parts, and a stream that was cut is told from one that finished.
"""
