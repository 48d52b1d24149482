"""LangGraph: the prebuilt agent with a checkpoint after each step."""

# pyright: reportMissingImports=false
from __future__ import annotations

import operator
import warnings
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from bench.peers import SYNCHRONOUS
from bench.rigs.conversation import ANSWER, ARGUMENTS, NOTES, PROMPT, TOOL

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent


class _Model(BaseChatModel):
    """Model that answers immediately."""

    @property
    def _llm_type(self) -> str:
        return "at-once"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage(content=ANSWER)
        else:
            message = AIMessage(content="", tool_calls=[{"id": "call_1", "name": TOOL, "args": ARGUMENTS}])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        return self._generate(messages)


@tool(TOOL)
def read(file_path: str) -> str:
    """Reads a file."""
    return NOTES


class Peer:
    async def open(self, folder: Path) -> None:
        self._stack = AsyncExitStack()
        saver = await self._stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(folder / "peer.db")))
        self._connection = saver.conn
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._graph = create_react_agent(_Model(), [read], checkpointer=saver)

    async def turn(self, session: str) -> None:
        state = {"messages": [HumanMessage(PROMPT)]}
        await self._graph.ainvoke(state, {"configurable": {"thread_id": session}}, durability="sync")

    async def read_settings(self) -> list[str]:
        ((mode,),) = await self._connection.execute_fetchall("PRAGMA journal_mode")
        ((level,),) = await self._connection.execute_fetchall("PRAGMA synchronous")
        return [mode, SYNCHRONOUS[level]]

    async def close(self) -> None:
        await self._stack.aclose()


class _Parts(TypedDict):
    parts: list[str]
    done: Annotated[list[str], operator.add]


class _Part(TypedDict):
    part: str


class Fan:
    """Fan-out with `Send`: each part runs in the prebuilt agent, checkpointed under one thread."""

    async def open(self, folder: Path) -> None:
        self._stack = AsyncExitStack()
        saver = await self._stack.enter_async_context(AsyncSqliteSaver.from_conn_string(str(folder / "peer.db")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            agent = create_react_agent(_Model(), [read])

        async def worker(state: _Part) -> dict[str, list[str]]:
            answer = await agent.ainvoke({"messages": [HumanMessage(state["part"])]})
            return {"done": [str(answer["messages"][-1].content)]}

        graph = StateGraph(_Parts)
        graph.add_node("worker", worker)
        graph.add_conditional_edges(
            START, lambda state: [Send("worker", {"part": part}) for part in state["parts"]], ["worker"]
        )
        graph.add_edge("worker", END)
        self._graph = graph.compile(checkpointer=saver)

    async def run(self, thread: str, parts: list[str], at_once: int) -> int:
        """Run the parts; return how many ended."""
        config = {"configurable": {"thread_id": thread}, "max_concurrency": at_once}
        result = await self._graph.ainvoke({"parts": parts, "done": []}, config, durability="sync")
        return len(result["done"])

    async def close(self) -> None:
        await self._stack.aclose()
