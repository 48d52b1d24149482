"""Texts of the offline search in English and Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from .findings import MAX_FILES, SearchFindings

REPORT = "search-report.md"

_ENGLISH = {
    "searched": "No model is configured, so this is a search for {words}, not an answer.",
    "nothing": "No line matches.",
    "named": "These files have a matching name:",
    "found": "{files} files match. The best come first.",
    "found_one": "One file matches.",
    "more": "and {count} more lines",
    "offer": f'Reply "write it" to save this as `{REPORT}`. Callboard asks for approval before it writes the file.',
    "no_words": "No model is configured. I can only search this folder: enter a word from a file, or a file name.",
    "no_tool": "No model is configured, and this agent has no search tool.",
    "not_searched": "No model is configured, and the search did not run: {reason}",
    "written": f"The report is in `{REPORT}`.",
    "not_written": "The report was not written: {reason}",
    "cannot_write": "This agent has no tool to write the report.",
    "connect": "To connect a model, set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`; for Ollama, LM Studio or "
    "another compatible server set `CALLBOARD_BASE_URL` and `CALLBOARD_MODEL`. Then start callboard again. "
    "`callboard models` lists the models on this machine.",
    "title": "# Search for {words}",
}
_CHINESE = {
    "searched": "还没有配置模型，所以这是对 {words} 的搜索结果，不是模型的回答。",
    "nothing": "没有找到包含这些词的行。",
    "named": "这些文件的名称与之相符：",
    "found": "有 {files} 个文件包含这些词，最相关的在前。",
    "found_one": "有 1 个文件包含这些词。",
    "more": "另有 {count} 行",
    "offer": f"回复“写吧”，即可把结果写入 `{REPORT}`；写入之前会先征得您的同意。",
    "no_words": "还没有配置模型。我能做的是搜索这个文件夹：请告诉我要找的词，例如文件中的某个词或文件名。",
    "no_tool": "还没有配置模型，而且这个代理没有可用的搜索工具。",
    "not_searched": "还没有配置模型，搜索也没有执行：{reason}",
    "written": f"报告已写入 `{REPORT}`。",
    "not_written": "报告没有写入：{reason}",
    "cannot_write": "这个代理没有写报告所需的工具。",
    "connect": "要连接模型，请设置 `OPENAI_API_KEY`、`ANTHROPIC_API_KEY` 或 `GEMINI_API_KEY`；"
    "使用 Ollama、LM Studio 或其他兼容服务时，请设置 `CALLBOARD_BASE_URL` 和 `CALLBOARD_MODEL`，然后重新启动 callboard。"
    "`callboard models` 会显示本机上找到的模型。",
    "title": "# 搜索：{words}",
}

Excerpts = dict[str, tuple[tuple[int, str], ...]]


def select_texts(*, chinese: bool) -> dict[str, str]:
    """Return the texts of a language by key."""
    return _CHINESE if chinese else _ENGLISH


def format_words(words: Sequence[str]) -> str:
    return ", ".join(_format_code(word) for word in words)


def format_findings(findings: Sequence[SearchFindings], excerpts: Excerpts, texts: dict[str, str]) -> str:
    """Format findings as Markdown. Each line is cited as `path:line` and quoted as code."""
    head = texts["found_one"] if len(findings) == 1 else texts["found"].format(files=len(findings))
    blocks = [head, *(_format_file(file, excerpts.get(file.path, ()), texts) for file in findings[:MAX_FILES])]
    return "\n\n".join(blocks)


def _format_file(file: SearchFindings, excerpt: tuple[tuple[int, str], ...], texts: dict[str, str]) -> str:
    lines = [f"- {_format_code(hit.citation)} {_format_code(hit.text)}" for hit in file.hits]
    if (rest := file.total - len(file.hits)) > 0:
        lines.append(f"- {texts['more'].format(count=rest)}")
    if excerpt:
        text = "\n".join(f"{number:>5}  {line}".rstrip() for number, line in excerpt)
        fence = _choose_fence(text, 3)
        lines.append(f"\n{fence}text\n{text}\n{fence}")
    return "\n".join(lines)


def _format_code(text: str) -> str:
    fence = _choose_fence(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _choose_fence(text: str, min_chars: int) -> str:
    """Return more backticks in a row than the text has, so that it cannot end the code."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return "`" * max(min_chars, longest + 1)
