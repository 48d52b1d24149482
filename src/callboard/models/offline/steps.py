"""What the search does next: search, read the best files, answer, and write the report when it is asked to.

Everything follows from the request: what was asked, which tools were called since, and what they came to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from callboard.contracts.ports.model import (
    ModelMessage,
    ModelRequest,
    TextContent,
    ToolResultContent,
    ToolSpec,
)

from ..turn import find_turn_start, read_input
from .findings import SearchFindings, excerpt, parse_findings
from .texts import REPORT, Excerpts, format_findings, format_words, select_texts
from .words import accepts_offer, asks_for_report, extract_words, is_chinese

_READS = 2
#: What a tool may call the argument that is meant.
_NAMES = {"path": ("path", "file_path")}


class SearchRequest(msgspec.Struct, frozen=True):
    """A tool is asked for."""

    tool: str
    arguments: dict[str, str]


class OfflineAnswer(msgspec.Struct, frozen=True):
    """Text for the person; with `then`, a call that ends the work."""

    text: str
    then: SearchRequest | None = None


def next_step(request: ModelRequest) -> SearchRequest | OfflineAnswer:
    """The next step of the work on what was asked last."""
    messages, tools = request.messages, {tool.name: tool for tool in request.tools}
    at = _question(request)
    question = read_input(messages[at]) if at >= 0 else ""
    since = messages[at + 1 :]
    # Reminded to go on once all that there was to say is said, there is nothing more.
    step = "" if _has_answered(since) else _step(question, messages[: max(at, 0)], since, tools)
    if isinstance(step, SearchRequest):
        return step
    text = f"{step}\n\n{select_texts(chinese=is_chinese(question))['connect']}".strip()
    # In a chat text ends the turn; an agent that works on its own has to say that it is done.
    finalize = None if request.one_call else tools.get("Finalize")
    return OfflineAnswer(text, _ask(finalize, summary=text.partition("\n")[0]) if finalize else None)


def _step(
    question: str, before: Sequence[ModelMessage], since: Sequence[ModelMessage], tools: dict[str, ToolSpec]
) -> SearchRequest | str:
    results = _results(since)
    earlier = _searched_for(before)
    if not accepts_offer(question) or earlier < 0:
        return _Search(question, results, tools, report=asks_for_report(question)).step()
    # What was found then is what was agreed to; only the writing is new.
    found = [one for one in _results(before[earlier:]) if one.tool != "Write"]
    return _Search(read_input(before[earlier]), [*found, *results], tools, report=True).step()


class _Search:
    """The work on one question. Results are taken in the order of their calls: the gate may have changed the arguments."""

    def __init__(
        self, question: str, results: Sequence[ToolResultContent], tools: dict[str, ToolSpec], *, report: bool
    ) -> None:
        self._words = extract_words(question)
        self._results = results
        self._tools = tools
        self._report = report
        self._say = select_texts(chinese=is_chinese(question))
        self._searched = self._say["searched"].format(words=format_words(self._words))

    def step(self) -> SearchRequest | str:
        """A call to make, or the answer."""
        if not self._words:
            return self._say["no_words"]
        if "Grep" not in self._tools:
            return self._say["no_tool"]
        searched = self._result("Grep")
        if searched is None:
            pattern = "|".join(re.escape(word).replace(r"\ ", " ") for word in self._words)
            return _ask(self._tools["Grep"], pattern=f"(?i){pattern}")
        if searched.failed:
            return self._say["not_searched"].format(reason=searched.text)
        # A report of before holds every word that it was asked for, and says nothing of its own.
        found = tuple(one for one in parse_findings(searched.text, self._words) if one.path != REPORT)
        return self._read(found) if found else self._by_name()

    def _read(self, found: Sequence[SearchFindings]) -> SearchRequest | str:
        excerpts: Excerpts = {}
        for number, one in enumerate(found[:_READS] if "Read" in self._tools else ()):
            opened = self._result("Read", number)
            if opened is None:
                return _ask(self._tools["Read"], path=one.path)
            if not opened.failed:
                excerpts[one.path] = excerpt(opened.text, one.best.line)
        return self._answer(f"{self._searched}\n\n{format_findings(found, excerpts, self._say)}")

    def _answer(self, answer: str) -> SearchRequest | str:
        say, write = self._say, self._tools.get("Write")
        if not self._report:
            return f"{answer}\n\n{say['offer']}" if write else answer
        if write is None:
            return f"{answer}\n\n{say['cannot_write']}"
        written = self._result("Write")
        if written is None:
            title = say["title"].format(words=format_words(self._words))
            return _ask(write, path=REPORT, content=f"{title}\n\n{answer}\n")
        return say["not_written"].format(reason=written.text) if written.failed else say["written"]

    def _by_name(self) -> SearchRequest | str:
        nothing = f"{self._searched} {self._say['nothing']}"
        if "Glob" not in self._tools:
            return nothing
        name = max(self._words, key=len).rpartition("/")[2]
        named = self._result("Glob")
        if named is None:
            either = (f"[{one}{one.upper()}]" if one.isascii() and one.isalpha() else one for one in name)
            return _ask(self._tools["Glob"], pattern=f"**/*{''.join(either)}*")
        paths = [] if named.failed else [path for path in named.text.splitlines() if name in path.lower()]
        return (
            "\n".join([self._searched, self._say["named"], "", *(f"- {path}" for path in paths)]) if paths else nothing
        )

    def _result(self, tool: str, number: int = 0) -> ToolResultContent | None:
        results = [one for one in self._results if one.tool == tool]
        return results[number] if number < len(results) else None


def _ask(tool: ToolSpec, **wanted: str) -> SearchRequest:
    known = tool.schema.get("properties", {})
    return SearchRequest(
        tool.name,
        {next((name for name in _NAMES.get(one, ()) if name in known), one): value for one, value in wanted.items()},
    )


def _question(request: ModelRequest) -> int:
    """What is asked: what the turn began with, or what the person said after a tool's result since."""
    begins, messages = find_turn_start(request), request.messages
    after = (index for index in range(begins + 1, len(messages)) if messages[index].role == "user")
    return max((index for index in after if messages[index - 1].role != "assistant"), default=begins)


def _searched_for(messages: Sequence[ModelMessage]) -> int:
    """The index of the newest question that there was anything to look for in, -1 where there is none."""
    asked = (index for index in reversed(range(len(messages))) if messages[index].role == "user")
    texts = ((index, read_input(messages[index])) for index in asked)
    return next((index for index, text in texts if extract_words(text) and not accepts_offer(text)), -1)


def _has_answered(since: Sequence[ModelMessage]) -> bool:
    said = (content for message in since if message.role == "assistant" for content in message.content)
    return any(isinstance(content, TextContent) for content in said)


def _results(messages: Sequence[ModelMessage]) -> list[ToolResultContent]:
    return [content for one in messages for content in one.content if isinstance(content, ToolResultContent)]
