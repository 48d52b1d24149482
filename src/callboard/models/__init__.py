"""How a model is asked: every model stands behind the port in ``contracts.ports.model``.

- ``registry``            the models that are configured, and which of them a run asks
- ``openai_compatible``   any endpoint that speaks OpenAI's chat completions
- ``scripted``            a scenario file in place of a model; ``scenario`` is its format
- ``offline``             a search, where no model is configured
- ``retry``               whether and when a failed call is tried again; the caller tries, and records each attempt
- ``turn``                what a request says of its turn, for models that hold nothing between calls

Answers are typed parts, and a stream that was cut is told from one that finished.
"""
