"""The product with a fault, for the sabotage of a proof: `python sabotages.py FAULT PYTHON -m
callboard ...`.

no-pause           an idle agent with unread input is not paused
no-cascade         the cancel of a parent does not reach its children
unsaid:TYPE        facts of that type are decided and not appended
other-words        an evidence pack has other payloads than the log
short-pack         an evidence pack lacks the last fact, and its manifest agrees
open-cage          the sandbox is the whole machine, with its network and processes
open-paths         protected paths are writable
open-home          keys, start files and programs of an opened home are ordinary files
open-outside       a folder's servers may set any variable, and trust does not cover their programs
open-agents        an approval of an agent's program covers any program in its place
literal-rules      a rule compares only the literal text of a command
miscounted         every shell text counts as one command
cut-cards          a card has only the first lines of a change, without a mark
keep-packs         erased content stays in the packs of the log
cut-is-whole       an answer that broke off between two events counts as complete
bare-pieces        streamed text is shown and stored unredacted
bare-facts         only streamed text is redacted
no-sync            the log is written and never synced
follow-clock       times follow the wall clock, and no step is noticed
patient            a model may be silent forever
ack-before-commit  an append is acknowledged shortly before its commit
drop-partial       partial text is accepted and not stored
skip-op, repeat-op a returning viewer misses an operation, or gets one again
trust-derived      derived data is used even if it does not fit

This module imports the product, because it is the product with a fault.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def plant(fault: str) -> None:  # noqa: C901 - one branch a fault
    """Add the fault to the product.

    Raises:
        LookupError: The fault is unknown.
    """
    if fault == "no-pause":
        _replace("callboard.control.decide.follow", "pause_idle", lambda *_: None)
    elif fault == "no-cascade":
        _replace("callboard.control.decide.thread.stop", "cancel_children", lambda *_: None)
    elif fault == "open-cage":
        _replace("callboard.tools.sandbox.bubblewrap", "build_namespace_options", lambda **_: ["--die-with-parent"])
        whole = lambda view: ["--dev-bind", "/", "/", "--chdir", view.folder]
        _replace("callboard.tools.sandbox.bubblewrap", "build_mount_options", whole)
    elif fault == "no-sync":
        from callboard.log.sqlite import schema

        configure = schema.configure
        lazily = lambda connection, *, new: configure(connection, new=new, synchronous="OFF")
        _replace(schema.__name__, "configure", lazily)
    elif fault == "follow-clock":
        from callboard.runtime.clock import Clock

        _set(Clock, "now", Clock.wall)
        _set(Clock, "step", lambda self: 0)
    elif fault == "open-paths":
        from callboard.tools.protection.watch import Watch

        _set(Watch, "_protect", lambda *_: None)
        _set(Watch, "rename_new", lambda self: ())
    elif fault == "open-home":
        _replace("callboard.app.wiring", "list_private", lambda _: ())
        for name in ("shell.command", "gate.stations"):
            _replace(f"callboard.tools.{name}", "list_programs_in", lambda *_: ())
    elif fault == "open-outside":
        _replace("callboard.app.settings.folder_file", "list_loaders", lambda _: ())
        _replace("callboard.app.settings.folder_file", "list_programs", lambda *_: ())
    elif fault in _OF_THE_GATE:
        _OF_THE_GATE[fault]()
    elif fault == "keep-packs":
        _replace("callboard.log.sqlite.removal", "_drop_packs", lambda *_: None)
    elif fault == "cut-is-whole":
        ends = lambda *_, called: ("tool_calls" if called else "stop", "")
        _replace("callboard.models.wire.wire", "read_ending", ends)
    elif fault == "patient":
        from callboard.models.wire import wire

        opened = getattr(wire, "_build_http_client")  # noqa: B009
        forever = {"idle_timeout": 3600.0, "connect_timeout": 3600.0}
        _replace(wire.__name__, "_build_http_client", lambda endpoint, *rest: opened(_with(endpoint, **forever), *rest))
    elif fault == "bare-pieces":
        from callboard.secrets.stream_redactor import StreamRedactor

        _set(StreamRedactor, "add", lambda self, piece: piece)
        _set(StreamRedactor, "read_withheld", lambda self: "")
    elif fault == "bare-facts":
        from callboard.secrets.redaction import Redaction

        _set(Redaction, "redact", lambda self, text: text)
        _set(Redaction, "can_contain_secret", lambda self, data: False)
    elif fault == "short-pack":
        from callboard.evidence.pack import PackWriter

        facts = PackWriter.add_facts
        _set(PackWriter, "add_facts", lambda self, page: facts(self, page[:-1]))
    elif fault == "other-words":
        from callboard.evidence import layout

        line_of = layout.encode_line
        _replace("callboard.evidence.layout", "encode_line", lambda stored, header: line_of(_reworded(stored), header))
    elif fault in _OF_THE_STORE:
        _OF_THE_STORE[fault]()
    elif fault.startswith("unsaid:"):
        from callboard.control.batch import Batch

        add, unsaid = Batch.add, fault.partition(":")[2]
        _set(Batch, "add", lambda *arguments: None if arguments[1].type == unsaid else add(*arguments))
    else:
        raise LookupError(f"there is no fault {fault}")
    print(f"SABOTAGE: {fault}. This product is broken on purpose.", file=sys.stderr, flush=True)


def _open_agents() -> None:
    from callboard.tools.unsandboxed.binding import CommandBinding

    _set(CommandBinding, "token", property(lambda _: "any"))


def _literal_rules() -> None:
    from callboard.tools.shell_grammar.spellings import CommandSpellings

    literal = lambda text: CommandSpellings(frozenset({tuple(text.split(" "))}), is_clear=True)
    _replace("callboard.tools.gate.rules", "list_spellings", literal)


def _cut_cards() -> None:
    from callboard.tools.files import changes

    diff = changes.diff

    def cut(plan: Any) -> Any:
        change = diff(plan)
        return change._replace(text="\n".join(change.text.split("\n")[:5]))

    _replace("callboard.tools.files.changes", "diff", cut)


#: Faults of decisions on a call.
_OF_THE_GATE: dict[str, Callable[[], None]] = {
    "open-agents": _open_agents,
    "literal-rules": _literal_rules,
    "cut-cards": _cut_cards,
    "miscounted": lambda: _replace("callboard.tools.shell_grammar.parser", "count_commands", lambda _: 1),
}

#: Seconds between acknowledgement and commit, long enough for a kill.
LINGER = 0.05


def _acknowledge_early() -> None:
    """Report the result of each log operation after the last one of its group, and wait before the
    commit.
    """
    from callboard.contracts.errors import Refusal
    from callboard.log.sqlite.schema import FACTS
    from callboard.log.sqlite.writer import Writer

    attempt, send = getattr(Writer, "_attempt"), getattr(Writer, "_send")  # noqa: B009

    def early(writer: Any, group: Any) -> Any:
        if not getattr(writer, "_path").endswith(FACTS):  # noqa: B009
            return attempt(writer, group)
        outcomes: list[Any] = []
        runs = [work.run for work in group]

        def record_first(run: Any) -> Any:
            def recorded(connection: Any) -> Any:
                outcome: Any = None
                try:
                    outcome = run(connection)
                except Refusal as refusal:
                    outcome = refusal
                outcomes.append(outcome)
                if len(outcomes) == len(group):
                    send(writer, group, outcomes)
                    time.sleep(LINGER)
                if isinstance(outcome, Refusal):
                    raise outcome
                return outcome

            return recorded

        for work, run in zip(group, runs, strict=True):
            work.run = record_first(run)
        try:
            return attempt(writer, group)
        finally:
            for work, run in zip(group, runs, strict=True):
                work.run = run

    _set(Writer, "_attempt", early)


def _misplace(off: int) -> None:
    """Shift the position of a returning client by this many operations."""
    from callboard.runtime.views.ring import Ring

    place = getattr(Ring, "_find_position")  # noqa: B009

    def misplaced(ring: Any, after: Any) -> Any:
        position = place(ring, after)
        return position if position is None or after == getattr(ring, "_base") else position + off  # noqa: B009

    _set(Ring, "_find_position", misplaced)


def _drop_partials() -> None:
    from callboard.log.sqlite.partials import SqlitePartials

    async def drop(*_: object) -> None: ...

    _set(SqlitePartials, "write", drop)


_OF_THE_STORE: dict[str, Callable[[], None]] = {
    "ack-before-commit": _acknowledge_early,
    "drop-partial": _drop_partials,
    "skip-op": lambda: _misplace(1),
    "repeat-op": lambda: _misplace(-1),
    "trust-derived": lambda: _replace("callboard.log.sqlite.views.rows", "unprotect", lambda stored, *_: stored[4:]),
}


def _reworded(stored: Any) -> Any:
    return stored if stored.payload is None else stored._replace(payload=stored.payload.replace(b"note", b"nope"))


def _with(endpoint: Any, **changes: Any) -> Any:
    from msgspec.structs import replace

    return replace(endpoint, **changes)


def _set(owner: Any, name: str, value: Any) -> None:
    """Replace an attribute that must exist: a sabotage of a renamed attribute would change nothing."""
    getattr(owner, name)
    setattr(owner, name, value)


def _replace(module: str, name: str, by: Callable[..., Any]) -> None:
    """Replace a function.

    Raises:
        AttributeError: There is no such function.
    """
    target = import_module(module)
    getattr(target, name)
    setattr(target, name, by)


if __name__ == "__main__":
    # The product's imports must not find the proofs beside this file.
    sys.path.pop(0)
    for fault in sys.argv[1].split(","):
        plant(fault)
    # The original start of a server: the interpreter and its module.
    sys.argv = ["callboard", *sys.argv[5:]]
    from callboard.app.cli.main import main

    sys.exit(main())
