"""Commands that a text may run in any spelling, for rules that deny or ask."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from ..unsandboxed.variables import is_loader
from .parser import SimpleCommand, Word, parse
from .programs import (
    EVALUATORS,
    EXEC_OPTIONS,
    FED_ARGUMENTS,
    INTERPRETERS,
    LAUNCHERS,
    READS_CODE,
    RUNNING_SUBCOMMANDS,
    SHELLS,
    STARTING_SUBCOMMANDS,
    WITH_SUBCOMMAND,
    is_destructive,
)

#: Maximum depth of scripts in scripts.
_MAX_NESTED = 4
#: Maximum number of spellings of a text. A text with more is unclear.
_MAX_SPELLINGS = 4000
#: Maximum CPU time for a text, in seconds. A text that takes more is unclear.
_PATIENCE_SECONDS = 0.05
_CODE_WORD = re.compile(r"[\w.:/@=+~-]+")
#: Characters that only code contains.
_CODE = re.compile(r"[\s'\"({\[;]")
_ALIAS = re.compile(r"(?:--config-env=)?alias\.", re.IGNORECASE)
_VALUE = re.compile(r"[\w-]+=")
#: An option of one letter followed directly by a script.
_SHORT_OPTION = re.compile(r"\A-[A-Za-z](?=\w+\s)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class CommandSpellings(NamedTuple):
    """Commands that a text may run.

    Attributes:
        commands: The words of each; None for a word that only the shell can evaluate.
        is_clear: True if the list is complete. False for a program from an expansion, a script from a pipe, or invalid
            shell text.
    """

    commands: frozenset[tuple[Word, ...]]
    is_clear: bool


def list_spellings(text: str) -> CommandSpellings:
    """Return every command that a shell text may run.

    Removes launchers (`env`, `sudo`, `find -exec` …), folders of programs and options before a
    subcommand, and reads scripts in arguments and here-documents. Returns too many commands rather
    than too few, so use it only for rules that deny or ask.

    Example:
        ("git", "push") in list_spellings("env -u A git -C . push").commands
    """
    reading = _Reading()
    reading.read(text)
    return CommandSpellings(frozenset(reading.commands), reading.is_clear)


def is_match(pattern: str, command: tuple[Word, ...]) -> bool | None:
    """Return True if a command matches the pattern of a rule: a text, or a prefix that ends in `*`.

    Returns None if it depends on a word that only the shell can evaluate.
    """
    start = pattern[:-1] if pattern.endswith("*") else None
    certain = command[: command.index(None)] if None in command else command
    text = " ".join(word or "" for word in certain)
    if start is None:
        fits = text == pattern
        may_fit = pattern.startswith(f"{text} ")
    else:
        fits = text.startswith(start) or text == start.rstrip(" ")
        may_fit = start.startswith(f"{text} ")
    if None not in command:
        return fits
    return True if fits and start is not None else (None if may_fit or fits or not certain else False)


def is_destructive_text(text: str) -> bool:
    """Return True if the text may delete things or grant more rights, which includes unclear texts."""
    spellings = list_spellings(text)
    return not spellings.is_clear or any(command[0] and is_destructive(command[0]) for command in spellings.commands)


class _Reading:
    """One reading of a text with the scripts in it."""

    def __init__(self) -> None:
        self.commands: set[tuple[Word, ...]] = set()
        self.is_clear = True
        self._end = time.thread_time() + _PATIENCE_SECONDS
        self._is_over = False
        #: Depth at which each script was read, and whether it was clear. The words of a script are read as scripts.
        self._scripts_read: dict[str, tuple[int, bool]] = {}

    def read(self, text: str) -> None:
        """Read a text with the scripts in it."""
        self._read(text, 0)
        self.is_clear = self.is_clear and not self._is_over

    def _read(self, text: str, depth: int) -> None:
        script = parse(text)
        self.is_clear = self.is_clear and script.is_complete
        names = {_get_base_name(command.words[0]) for command in script.commands}
        feeds_a_shell = any(_get_base_name(command.words[0]) in SHELLS | FED_ARGUMENTS for command in script.commands)
        reads_code = any(READS_CODE.fullmatch(name) for name in names if name)
        for command in script.commands:
            self._add_command(command, depth)
            if reads_code:
                self._add_code(command.words[1:])
            if feeds_a_shell:
                self._read_scripts((*command.words[1:], _join(command.words[1:])), depth)
        if names & (SHELLS | LAUNCHERS):
            self._read_scripts(script.inputs, depth)
        if reads_code:
            self._add_code(script.inputs)
        # The value of a variable such as GIT_SSH_COMMAND or PROMPT_COMMAND runs.
        self._read_scripts(tuple(value for name, value in script.assignments if is_loader(name)), depth)

    def _add_command(self, command: SimpleCommand, depth: int) -> None:
        program = _get_base_name(command.words[0])
        if program is None:
            self.is_clear = False
            return
        self._add_program(command.words, depth, is_piped=command.is_piped)
        if program in LAUNCHERS:
            launched = _list_launched(program, command.words[1:])
            if _is_unclear(launched):
                self.is_clear = False
            self._read_scripts(launched, depth)
            for start in range(len(launched)):
                if self._is_exhausted():
                    return
                self._add_program(launched[start:], depth, is_piped=False)

    def _add_program(self, words: tuple[Word, ...], depth: int, *, is_piped: bool) -> None:
        program, rest = _get_base_name(words[0]), words[1:]
        if program is None:
            return
        self._add((program, *rest))
        if program in SHELLS:
            named = [word for word in rest if word is None or not word.startswith(("-", "+"))]
            if None in named or (is_piped and not named):
                self.is_clear = False
            # pwsh joins its arguments to a script.
            self._read_scripts((*rest, _join(named)) if program == "pwsh" else rest, depth)
        elif program in EVALUATORS:
            if None in rest:
                self.is_clear = False
            self._read_scripts((*rest, _join(rest)), depth)
        elif INTERPRETERS.fullmatch(program):
            self._add_code(rest)
        if program in WITH_SUBCOMMAND:
            self._add_subcommand(program, rest, depth)

    def _add_subcommand(self, program: str, words: tuple[Word, ...], depth: int) -> None:
        """Add subcommands that run their arguments, such as `uv run`, and settings that name programs."""
        if program == "gh" and "alias" in words:
            self.is_clear = False
        if program == "git":
            values = (following for word, following in pairwise(words) if word == "-c" and following)
            self._read_scripts(tuple(value.partition("=")[2] for value in values), depth)
        start = next((index for index, word in enumerate(words) if word in RUNNING_SUBCOMMANDS), None)
        if start is None:
            return
        started = words[start + 1 :]
        if words[start] in STARTING_SUBCOMMANDS and _is_unclear(started):
            self.is_clear = False
        self._read_scripts(started, depth)
        for index in range(len(started)):
            if self._is_exhausted():
                return
            self._add_program(started[index:], depth, is_piped=False)

    def _add(self, words: tuple[Word, ...]) -> None:
        if self._is_exhausted():
            return
        self.commands.add(words)
        program = words[0]
        if program in WITH_SUBCOMMAND:
            if program == "git" and _has_alias(words):
                self.is_clear = False
            self.commands.update((program, *words[start:]) for start in _find_subcommands(words))

    def _read_scripts(self, texts: tuple[Word, ...], depth: int) -> None:
        for text in texts:
            if text is None:
                continue
            script = text.partition("=")[2] if _VALUE.match(text) else _SHORT_OPTION.sub("", text, count=1)
            if not script.strip() or script.startswith("-"):
                continue
            if depth >= _MAX_NESTED:
                self.is_clear = False
            else:
                # Other arguments, such as options of a launcher, make nothing unclear.
                before = self.is_clear
                self.is_clear = (self._read_script(script, depth + 1) or not _is_script(script)) and before

    def _read_script(self, script: str, depth: int) -> bool:
        cached = self._scripts_read.get(script)
        if cached is not None and cached[0] <= depth:
            return cached[1]
        if self._is_exhausted():
            return False
        self._scripts_read[script] = depth, True
        self.is_clear = True
        self._read(script, depth)
        self._scripts_read[script] = depth, self.is_clear
        return self.is_clear

    def _is_exhausted(self) -> bool:
        self._is_over = self._is_over or len(self.commands) >= _MAX_SPELLINGS or time.thread_time() > self._end
        return self._is_over

    def _add_code(self, arguments: tuple[Word, ...]) -> None:
        """Add code of another language: its consecutive words may be a command."""
        for text in arguments:
            if text is None or not _CODE.search(text):
                continue
            for code in dict.fromkeys((text, text.replace("=", " "))):
                words = tuple(_CODE_WORD.findall(code))
                for start in range(len(words)):
                    self._add(words[start : start + 8])


def _list_launched(program: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the arguments that contain the program which a launcher starts."""
    options = EXEC_OPTIONS.get(program)
    if options is not None:
        starts = [index + 1 for index, word in enumerate(words) if word in options]
        words = words[starts[0] :] if starts else ()
    if ":::" in words:
        # Arguments of `parallel` follow.
        return (*words[: words.index(":::")], None)
    if program in FED_ARGUMENTS and words:
        filled = tuple(None if word is not None and "{" in word else word for word in words)
        return filled if options is not None else (*filled, None)
    return words


def _is_unclear(words: tuple[Word, ...]) -> bool:
    """Return True if only the shell can evaluate which program a launcher starts."""
    for word in words:
        if word is None:
            return True
        if not word.startswith("-") and not _ASSIGNMENT.match(word):
            return False
    return False


def _has_alias(words: tuple[Word, ...]) -> bool:
    return any(
        word is not None
        and _ALIAS.match(word)
        and (words[index - 1] == "-c" or "config" in words[:index] or "=" in word)
        for index, word in enumerate(words)
    )


def _join(words: Iterable[Word]) -> str:
    return " ".join(word for word in words if word is not None)


def _is_script(text: str) -> bool:
    return any(mark in text for mark in " \t\n;&|$`")


def _find_subcommands(words: tuple[Word, ...]) -> Iterator[int]:
    """Yield the positions of a possible subcommand. Options with their values may precede it."""
    start = 1
    while start < len(words):
        word = words[start]
        if word is None or not word.startswith(("-", "+")):
            # Either the value of an option or the subcommand.
            yield start
            before = words[start - 1]
            if start == 1 or before is None or not before.startswith("-"):
                return
        start += 1


def _get_base_name(word: Word) -> Word:
    """Return a program without its folder."""
    return None if word is None else word.rpartition("/")[2]
