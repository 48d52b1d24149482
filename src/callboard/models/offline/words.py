"""Search words in a prompt, and whether it requests a report. No part of a prompt is run."""

from __future__ import annotations

import re

_MAX_WORDS = 8
_PIECES = re.compile(r"""["'`“”‘’「」]([^"'`“”‘’「」\n]{2,60})["'`“”‘’「」]|([A-Za-z_][\w./-]+\w)|([\u3400-\u9fff]+)""")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_VERBS = re.compile(r"\b(write|save|create|make|generate|produce|prepare|draft)\b", re.IGNORECASE)
_ASKS_FOR_REPORT = re.compile(
    _VERBS.pattern + r"[^.?!\n]{0,40}\breport\b|[写寫生存出做][^。？！\n]{0,12}报告",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"\W*(yes|yep|yeah|sure|ok|okay|please do|do it|go ahead|(yes,? )?(please )?(write|save) (it|that|this|the report))"
    r"( please)?\W*|\W*(是|是的|好|好的|好啊|可以|行|对|要|写|写吧|写下来|请写|保存|保存吧|嗯)\W*",
    re.IGNORECASE,
)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a about all also am an and any are as at be been but by can come comes could did do does done each explain find for from
        get give had has have help how if in into is it its just know let list look make may me mean means might more most my
        need no not of on one or our out please rather said say says search see shall she should show so some such summarise
        summarize tell than that the their them then there these they thing things this those to under up us use used uses
        using want was way we were what when where which who whose why will with work works would write written you your
        file files folder line lines code text here everything anything something hello hi hey thanks thank yes report
        """,
    )
)
_COMMON_CHINESE = re.compile(
    "为什么|是什么|有什么|什么时候|在哪里|在哪儿|哪里|哪儿|哪个|哪些|什么|怎么样|怎么|怎样|如何|多少|几个|请问|请帮我|帮我|帮忙|请|"
    "查找一下|查找|搜索一下|搜索|寻找|找出|找到|找一下|看看|看一下|告诉我|列出|解释一下|解释|总结一下|总结|说明|介绍|写一份|写一个|"
    "写个|写|生成|报告|文件夹|文件|代码|里面|这里|那里|这个|那个|这些|那些|所有|全部|关于|有关|一下|一份|一个|可以|能够|需要|应该|"
    "我们|你们|他们|我|你|他|它|的|了|吗|呢|吧|啊|是|在|有|和|与|或|把|被|对|从|到|里|中|上|下|找|查|都|也|就|还|不|没"
)


def is_chinese(text: str) -> bool:
    return _CHINESE.search(text) is not None


def is_report_request(text: str) -> bool:
    return _ASKS_FOR_REPORT.search(text) is not None


def is_acceptance(text: str) -> bool:
    """Return whether the whole text accepts the offer of a report."""
    return _AGREES.fullmatch(text.strip()) is not None


def extract_words(text: str) -> tuple[str, ...]:
    """Return at most 8 words to search for, in order: quoted phrases, names and uncommon words."""
    words: list[str] = []
    if is_report_request(text):
        text = _VERBS.sub(" ", text)
    for phrase, word, chinese in _PIECES.findall(text):
        if phrase:
            words.append(phrase.strip())
        elif word and word.lower() not in _COMMON and len(word) > 2:
            words.append(_strip_plural(word))
        elif chinese:
            words += _split_chinese(chinese)
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:_MAX_WORDS]


def _strip_plural(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss") else word


def _split_chinese(run: str) -> list[str]:
    """Return the text between common words, and the pairs of characters in longer pieces."""
    words: list[str] = []
    for piece in _COMMON_CHINESE.split(run):
        if len(piece) >= 2:
            words.append(piece)
        if len(piece) > 3:
            words += [piece[start : start + 2] for start in range(0, len(piece) - 1, 2)]
    return words
