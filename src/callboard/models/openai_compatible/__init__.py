"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, DeepSeek, OpenRouter and the like.

``provider`` is what the rest of the house sees and costs nothing to import; ``wire``, ``conversation`` and ``failures``
stand on pydantic-ai, whose import takes a second or two, and are loaded in a thread by the first call or by ``warm``.
"""

from .provider import OpenAICompatible

__all__ = ["OpenAICompatible"]
