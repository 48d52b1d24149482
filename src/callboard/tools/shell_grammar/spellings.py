"""The commands that a text may run, whatever its spelling: what a rule that denies or asks compares with."""

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

#: Scripts within scripts are read to this depth.
_DEEPEST = 4
#: At most so many spellings of one text are compared; beyond that the text counts as unclear.
_MOST = 4000
#: So many seconds of CPU time one text may take; beyond that it counts as unclear.
_PATIENCE_S = 0.05
_CODE_WORD = re.compile(r"[\w.:/@=+~-]+")
#: What an argument that is no code does not have.
_CODE = re.compile(r"[\s'\"({\[;]")
_ALIAS = re.compile(r"(?:--config-env=)?alias\.", re.IGNORECASE)
_VALUE = re.compile(r"[\w-]+=")
#: An option of one letter with a script right behind it.
_SHORT_OPTION = re.compile(r"\A-[A-Za-z](?=\w+\s)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class CommandSpellings(NamedTuple):
    """The commands that a text may run.

    Attributes:
        commands: Each as its words; None for a word that only the shell could tell.
        is_clear: Whether they are all. False for a program that an expansion names, a script out of a pipe, a text that is no
            shell text.
    """

    commands: frozenset[tuple[Word, ...]]
    is_clear: bool


def list_spellings(text: str) -> CommandSpellings:
    """Return every command that a shell text may run.

    Launchers (`env`, `sudo`, `find -exec` …) are taken off, programs lose their folder, options before a subcommand are left
    out, and scripts within arguments and here-documents are read. Too many commands rather than too few: the answer serves
    rules that deny or ask, never those that allow.

    Example:
        ("git", "push") in spellings("env -u A git -C . push").commands
    """
    reading = _Reading()
    reading.read(text)
    return CommandSpellings(frozenset(reading.commands), reading.is_clear)


def is_match(pattern: str, command: tuple[Word, ...]) -> bool | None:
    """Compare one command with the pattern of a rule: a text, or a beginning that ends in `*`.

    Returns:
        None if a word that only the shell could tell decides it.
    """
    start = pattern[:-1] if pattern.endswith("*") else None
    known = command[: command.index(None)] if None in command else command
    text = " ".join(word or "" for word in known)
    if start is None:
        fits = text == pattern
        may = pattern.startswith(f"{text} ")
    else:
        fits = text.startswith(start) or text == start.rstrip(" ")
        may = start.startswith(f"{text} ")
    if None not in command:
        return fits
    return True if fits and start is not None else (None if may or fits or not known else False)


def is_destructive_text(text: str) -> bool:
    """Return True if a command in the text takes things away or grants more rights, or if that cannot be read: a text that is
    no shell text, one over the limits, and a program that only the shell could tell may be any."""
    found = list_spellings(text)
    return not found.is_clear or any(command[0] and is_destructive(command[0]) for command in found.commands)


class _Reading:
    """One reading of a text, with the scripts in it."""

    def __init__(self) -> None:
        self.commands: set[tuple[Word, ...]] = set()
        self.is_clear = True
        self._end = time.thread_time() + _PATIENCE_S
        self._is_over = False
        #: At which depth each script was read, and whether it was clear: words of a script are scripts themselves.
        self._scripts_read: dict[str, tuple[int, bool]] = {}

    def read(self, text: str) -> None:
        """Read a text with all scripts in it."""
        self._read(text, 0)
        self.is_clear = self.is_clear and not self._is_over

    def _read(self, text: str, depth: int) -> None:
        script = parse(text)
        self.is_clear = self.is_clear and script.is_complete
        names = {_base(command.words[0]) for command in script.commands}
        feeds_a_shell = any(_base(command.words[0]) in SHELLS | FED_ARGUMENTS for command in script.commands)
        reads_code = any(READS_CODE.fullmatch(name) for name in names if name)
        for command in script.commands:
            self._command(command, depth)
            if reads_code:
                self._code(command.words[1:])
            if feeds_a_shell:
                self._scripts((*command.words[1:], _joined(command.words[1:])), depth)
        if names & (SHELLS | LAUNCHERS):
            self._scripts(script.inputs, depth)
        if reads_code:
            self._code(script.inputs)
        # What a variable such as GIT_SSH_COMMAND or PROMPT_COMMAND is set to is run.
        self._scripts(tuple(value for name, value in script.assignments if is_loader(name)), depth)

    def _command(self, command: SimpleCommand, depth: int) -> None:
        program = _base(command.words[0])
        if program is None:
            self.is_clear = False
            return
        self._program(command.words, depth, is_piped=command.is_piped)
        if program in LAUNCHERS:
            launched = _launched(program, command.words[1:])
            if _is_unclear(launched):
                self.is_clear = False
            self._scripts(launched, depth)
            for start in range(len(launched)):
                if self._is_exhausted():
                    return
                self._program(launched[start:], depth, is_piped=False)

    def _program(self, words: tuple[Word, ...], depth: int, *, is_piped: bool) -> None:
        program, rest = _base(words[0]), words[1:]
        if program is None:
            return
        self._add((program, *rest))
        if program in SHELLS:
            named = [word for word in rest if word is None or not word.startswith(("-", "+"))]
            if None in named or (is_piped and not named):
                self.is_clear = False
            # This one takes its script as several words.
            self._scripts((*rest, _joined(named)) if program == "pwsh" else rest, depth)
        elif program in EVALUATORS:
            if None in rest:
                self.is_clear = False
            self._scripts((*rest, _joined(rest)), depth)
        elif INTERPRETERS.fullmatch(program):
            self._code(rest)
        if program in WITH_SUBCOMMAND:
            self._subcommand(program, rest, depth)

    def _subcommand(self, program: str, words: tuple[Word, ...], depth: int) -> None:
        """A subcommand that runs what follows it, as `uv run` does, and settings that name programs."""
        if program == "gh" and "alias" in words:
            self.is_clear = False
        if program == "git":
            values = (after for word, after in pairwise(words) if word == "-c" and after)
            self._scripts(tuple(value.partition("=")[2] for value in values), depth)
        start = next((at for at, word in enumerate(words) if word in RUNNING_SUBCOMMANDS), None)
        if start is None:
            return
        run = words[start + 1 :]
        if words[start] in STARTING_SUBCOMMANDS and _is_unclear(run):
            self.is_clear = False
        self._scripts(run, depth)
        for at in range(len(run)):
            if self._is_exhausted():
                return
            self._program(run[at:], depth, is_piped=False)

    def _add(self, words: tuple[Word, ...]) -> None:
        if self._is_exhausted():
            return
        self.commands.add(words)
        program = words[0]
        if program in WITH_SUBCOMMAND:
            if program == "git" and _sets_alias(words):
                self.is_clear = False
            self.commands.update((program, *words[start:]) for start in _after_options(words))

    def _scripts(self, texts: tuple[Word, ...], depth: int) -> None:
        for text in texts:
            if text is None:
                continue
            script = text.partition("=")[2] if _VALUE.match(text) else _SHORT_OPTION.sub("", text, count=1)
            if not script.strip() or script.startswith("-"):
                continue
            if depth >= _DEEPEST:
                self.is_clear = False
            else:
                # An argument that is no script, such as the options of a launcher, makes nothing unclear.
                before = self.is_clear
                self.is_clear = (self._is_clear_script(script, depth + 1) or not _is_script(script)) and before

    def _is_clear_script(self, script: str, depth: int) -> bool:
        before = self._scripts_read.get(script)
        if before is not None and before[0] <= depth:
            return before[1]
        if self._is_exhausted():
            return False
        self._scripts_read[script] = depth, True
        self.is_clear = True
        self._read(script, depth)
        self._scripts_read[script] = depth, self.is_clear
        return self.is_clear

    def _is_exhausted(self) -> bool:
        self._is_over = self._is_over or len(self.commands) >= _MOST or time.thread_time() > self._end
        return self._is_over

    def _code(self, arguments: tuple[Word, ...]) -> None:
        """Code of another language: the words in it, in their order, may be a command anywhere."""
        for text in arguments:
            if text is None or not _CODE.search(text):
                continue
            for code in dict.fromkeys((text, text.replace("=", " "))):
                words = tuple(_CODE_WORD.findall(code))
                for start in range(len(words)):
                    self._add(words[start : start + 8])


def _launched(program: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The arguments among which the program is that a launcher starts."""
    options = EXEC_OPTIONS.get(program)
    if options is not None:
        starts = [index + 1 for index, word in enumerate(words) if word in options]
        words = words[starts[0] :] if starts else ()
    if ":::" in words:
        # What follows are arguments of `parallel`.
        return (*words[: words.index(":::")], None)
    if program in FED_ARGUMENTS and words:
        filled = tuple(None if word is not None and "{" in word else word for word in words)
        return filled if options is not None else (*filled, None)
    return words


def _is_unclear(words: tuple[Word, ...]) -> bool:
    """Whether only the shell could tell which program a launcher starts."""
    for word in words:
        if word is None:
            return True
        if not word.startswith("-") and not _ASSIGNMENT.match(word):
            return False
    return False


def _sets_alias(words: tuple[Word, ...]) -> bool:
    return any(
        word is not None
        and _ALIAS.match(word)
        and (words[index - 1] == "-c" or "config" in words[:index] or "=" in word)
        for index, word in enumerate(words)
    )


def _joined(words: Iterable[Word]) -> str:
    return " ".join(word for word in words if word is not None)


def _is_script(text: str) -> bool:
    return any(mark in text for mark in " \t\n;&|$`")


def _after_options(words: tuple[Word, ...]) -> Iterator[int]:
    """Positions at which the subcommand may be: options, each with the word behind it, may lead up to it."""
    start = 1
    while start < len(words):
        word = words[start]
        if word is None or not word.startswith(("-", "+")):
            # The value of an option, or the subcommand.
            yield start
            before = words[start - 1]
            if start == 1 or before is None or not before.startswith("-"):
                return
        start += 1


def _base(word: Word) -> Word:
    """A program without its folder."""
    return None if word is None else word.rpartition("/")[2]
