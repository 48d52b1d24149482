"""The next step of the offline search: search, read the best files, answer, and write a requested report.

It depends only on the request: the question, and the calls since with their results.
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
from .findings import SearchFindings, extract_lines, parse_findings
from .texts import REPORT, Excerpts, format_findings, format_words, select_texts
from .words import extract_words, is_acceptance, is_chinese, is_report_request

_READS = 2
#: Possible names of an argument in tools.
_NAMES = {"path": ("path", "file_path")}


class SearchRequest(msgspec.Struct, frozen=True):
    """A tool call."""

    tool: str
    arguments: dict[str, str]


class OfflineAnswer(msgspec.Struct, frozen=True):
    """Text for the person. `then` is a call that ends the work."""

    text: str
    then: SearchRequest | None = None


def decide_step(request: ModelRequest) -> SearchRequest | OfflineAnswer:
    """Return the next step for the last question."""
    messages, tools = request.messages, {tool.name: tool for tool in request.tools}
    at = _find_question(request)
    question = read_input(messages[at]) if at >= 0 else ""
    since = messages[at + 1 :]
    # A reminder to continue after the answer gets no further text.
    step = "" if _has_answered(since) else _continue_search(question, messages[: max(at, 0)], since, tools)
    if isinstance(step, SearchRequest):
        return step
    text = f"{step}\n\n{select_texts(chinese=is_chinese(question))['connect']}".strip()
    # In a chat text ends the turn; an autonomous agent must call `Finalize`.
    finalize = None if request.one_call else tools.get("Finalize")
    return OfflineAnswer(text, _build_call(finalize, summary=text.partition("\n")[0]) if finalize else None)


def _continue_search(
    question: str, before: Sequence[ModelMessage], since: Sequence[ModelMessage], tools: dict[str, ToolSpec]
) -> SearchRequest | str:
    results = _list_results(since)
    earlier = _find_searched_question(before)
    if not is_acceptance(question) or earlier < 0:
        return _Search(question, results, tools, report=is_report_request(question)).decide()
    # The person accepted these findings, so only the write is new.
    findings = [result for result in _list_results(before[earlier:]) if result.tool != "Write"]
    return _Search(read_input(before[earlier]), [*findings, *results], tools, report=True).decide()


class _Search:
    """The search for a question. Results match calls by order, because the gate may have changed the arguments."""

    def __init__(
        self, question: str, results: Sequence[ToolResultContent], tools: dict[str, ToolSpec], *, report: bool
    ) -> None:
        self._words = extract_words(question)
        self._results = results
        self._tools = tools
        self._report = report
        self._texts = select_texts(chinese=is_chinese(question))
        self._summary = self._texts["searched"].format(words=format_words(self._words))

    def decide(self) -> SearchRequest | str:
        """Return the next call or the answer."""
        if not self._words:
            return self._texts["no_words"]
        if "Grep" not in self._tools:
            return self._texts["no_tool"]
        matches = self._find_result("Grep")
        if matches is None:
            pattern = "|".join(re.escape(word).replace(r"\ ", " ") for word in self._words)
            return _build_call(self._tools["Grep"], pattern=f"(?i){pattern}")
        if matches.failed:
            return self._texts["not_searched"].format(reason=matches.text)
        # An earlier report contains every search word, but no information.
        findings = tuple(file for file in parse_findings(matches.text, self._words) if file.path != REPORT)
        return self._read(findings) if findings else self._search_names()

    def _read(self, findings: Sequence[SearchFindings]) -> SearchRequest | str:
        excerpts: Excerpts = {}
        for number, file in enumerate(findings[:_READS] if "Read" in self._tools else ()):
            content = self._find_result("Read", number)
            if content is None:
                return _build_call(self._tools["Read"], path=file.path)
            if not content.failed:
                excerpts[file.path] = extract_lines(content.text, file.best.line)
        return self._answer(f"{self._summary}\n\n{format_findings(findings, excerpts, self._texts)}")

    def _answer(self, answer: str) -> SearchRequest | str:
        texts, write = self._texts, self._tools.get("Write")
        if not self._report:
            return f"{answer}\n\n{texts['offer']}" if write else answer
        if write is None:
            return f"{answer}\n\n{texts['cannot_write']}"
        result = self._find_result("Write")
        if result is None:
            title = texts["title"].format(words=format_words(self._words))
            return _build_call(write, path=REPORT, content=f"{title}\n\n{answer}\n")
        return texts["not_written"].format(reason=result.text) if result.failed else texts["written"]

    def _search_names(self) -> SearchRequest | str:
        nothing = f"{self._summary} {self._texts['nothing']}"
        if "Glob" not in self._tools:
            return nothing
        name = max(self._words, key=len).rpartition("/")[2]
        result = self._find_result("Glob")
        if result is None:
            either = (f"[{char}{char.upper()}]" if char.isascii() and char.isalpha() else char for char in name)
            return _build_call(self._tools["Glob"], pattern=f"**/*{''.join(either)}*")
        paths = [] if result.failed else [path for path in result.text.splitlines() if name in path.lower()]
        lines = [self._summary, self._texts["named"], "", *(f"- {path}" for path in paths)]
        return "\n".join(lines) if paths else nothing

    def _find_result(self, tool: str, number: int = 0) -> ToolResultContent | None:
        results = [result for result in self._results if result.tool == tool]
        return results[number] if number < len(results) else None


def _build_call(tool: ToolSpec, **arguments: str) -> SearchRequest:
    fields = tool.schema.get("properties", {})
    return SearchRequest(
        tool.name,
        {
            next((alias for alias in _NAMES.get(name, ()) if alias in fields), name): arguments[name]
            for name in arguments
        },
    )


def _find_question(request: ModelRequest) -> int:
    """Return the index of the turn's input, or of a later user message after a tool result."""
    start, messages = find_turn_start(request), request.messages
    later = (index for index in range(start + 1, len(messages)) if messages[index].role == "user")
    return max((index for index in later if messages[index - 1].role != "assistant"), default=start)


def _find_searched_question(messages: Sequence[ModelMessage]) -> int:
    """Return the index of the newest question with search words, or -1."""
    questions = (index for index in reversed(range(len(messages))) if messages[index].role == "user")
    texts = ((index, read_input(messages[index])) for index in questions)
    return next((index for index, text in texts if extract_words(text) and not is_acceptance(text)), -1)


def _has_answered(since: Sequence[ModelMessage]) -> bool:
    contents = (content for message in since if message.role == "assistant" for content in message.content)
    return any(isinstance(content, TextContent) for content in contents)


def _list_results(messages: Sequence[ModelMessage]) -> list[ToolResultContent]:
    return [part for message in messages for part in message.content if isinstance(part, ToolResultContent)]
