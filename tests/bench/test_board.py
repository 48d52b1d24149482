"""The product in the bench's process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

from bench.rigs.board import AtOnce, Board, PlainTool
from bench.rigs.conversation import TOOL
from callboard.contracts.ports.model import ModelEvent, ModelRequest


class ObservedModel(AtOnce):
    """A model that remembers which tools each request had."""

    def __init__(self) -> None:
        self.tools: list[tuple[str, ...]] = []

    def get_model(self, provider: str, name: str) -> AtOnce:
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.tools.append(tuple(spec.name for spec in request.tools))
        async for event in super().stream(request):
            yield event


async def test_the_plain_product_has_one_function_as_its_only_tool(tmp_path: Path) -> None:
    """The peers have one function, and the figures of this line are compared with theirs."""
    model = ObservedModel()
    board = Board(tmp_path, PlainTool, models=model)
    await board.open()

    ended = await board.until(await board.submit(None))
    await board.close()

    assert ended == "turn.completed"
    assert model.tools == [(TOOL,), (TOOL,)]
