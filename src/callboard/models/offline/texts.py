"""What the search says, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Sequence

from .findings import MOST_FILES, SearchFindings

REPORT = "search-report.md"

_ENGLISH = {
    "searched": "No model is configured, so this is a search for {words}, not an answer.",
    "nothing": "No line holds any of them.",
    "named": "These files have such a name:",
    "found": "{files} files hold them; the best ones first.",
    "found_one": "One file holds them.",
    "more": "and {count} more lines",
    "offer": f'Say "write it" and this becomes `{REPORT}`. You will be asked before the file is written.',
    "no_words": "No model is configured. What I can do is search this folder: name what to look for, such as a word from a "
    "file or its name.",
    "no_tool": "No model is configured, and this agent has no tool to search with.",
    "not_searched": "No model is configured, and the search did not run: {reason}",
    "written": f"The report is in `{REPORT}`.",
    "not_written": "The report was not written: {reason}",
    "cannot_write": "This agent has no tool to write the report with.",
    "connect": "To connect a model, set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`; for Ollama, LM Studio or "
    "another compatible server set `CALLBOARD_BASE_URL` and `CALLBOARD_MODEL`. Then start callboard again. "
    "`callboard models` shows what is found on this machine.",
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
    """The texts of a language, by key."""
    return _CHINESE if chinese else _ENGLISH


def format_words(words: Sequence[str]) -> str:
    return ", ".join(_code(word) for word in words)


def format_findings(found: Sequence[SearchFindings], excerpts: Excerpts, say: dict[str, str]) -> str:
    """The findings as Markdown, each line cited as `path:line` and fenced so that it shows as it is."""
    head = say["found_one"] if len(found) == 1 else say["found"].format(files=len(found))
    blocks = [head, *(_file(one, excerpts.get(one.path, ()), say) for one in found[:MOST_FILES])]
    return "\n\n".join(blocks)


def _file(one: SearchFindings, excerpt: tuple[tuple[int, str], ...], say: dict[str, str]) -> str:
    lines = [f"- {_code(hit.citation)} {_code(hit.text)}" for hit in one.hits]
    if (rest := one.total - len(one.hits)) > 0:
        lines.append(f"- {say['more'].format(count=rest)}")
    if excerpt:
        text = "\n".join(f"{number:>5}  {line}".rstrip() for number, line in excerpt)
        fence = _fence(text, 3)
        lines.append(f"\n{fence}text\n{text}\n{fence}")
    return "\n".join(lines)


def _code(text: str) -> str:
    fence = _fence(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _fence(text: str, least: int) -> str:
    """More backticks in a row than the text has, so that nothing in it can end the code."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return "`" * max(least, longest + 1)
