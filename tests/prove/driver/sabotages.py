"""The product with a fault in it, for the sabotage of a proof: `python sabotages.py FAULT PYTHON -m callboard ...`.

    no-pause        an idle agent with unread input is not paused
    no-cascade      the cancel of a parent reaches none of its children
    unsaid:TYPE     facts of that type are decided and never said
    other-words     a pack of evidence tells other payloads than the log has
    short-pack      a pack of evidence lacks the last fact, and its manifest agrees
    open-cage       the sandbox is the whole machine, with its network and its processes
    open-paths      what other programs obey is as writable as anything
    open-home       keys, start files and programs of an opened home are like any file
    open-outside    a folder's servers may set any variable, and trust is not bound to what they start
    open-agents     an approval of an agent's program covers whatever is in its place
    literal-rules   a rule compares with a command as it is written
    miscounted      every shell text counts as one command
    cut-cards       a card has the first lines of a change alone, and says nothing of the rest
    keep-packs      what is erased stays in the packs that the log keeps
    cut-is-whole    an answer of a model that broke off between two events is taken for a whole one
    bare-pieces     text in the making is shown and kept as it comes, secrets and all
    bare-facts      nothing is redacted but text in the making
    no-sync         the log is written and never synced
    follow-clock    times follow the wall clock wherever it is set, and no step is seen
    patient         a model may be silent for ever
    ack-before-commit   an append is acknowledged, and only a moment later committed
    drop-partial    text in the making is accepted and not kept
    skip-op, repeat-op  a returning viewer misses an operation, or gets one again
    trust-derived   what is derived is used whether or not it fits

This is the one module here that imports the product, because it is the product, broken.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any


def plant(fault: str) -> None:  # noqa: C901 - one branch a fault
    """Breaks the product. Raises LookupError for a fault that is not known."""
    if fault == "no-pause":
        _replace("callboard.control.decide.follow", "pause_idle", lambda *_: None)
    elif fault == "no-cascade":
        _replace("callboard.control.decide.thread.stop", "cancel_children", lambda *_: None)
    elif fault == "open-cage":
        _replace("callboard.tools.sandbox.bubblewrap", "namespace_options", lambda **_: ["--die-with-parent"])
        whole = lambda view: ["--dev-bind", "/", "/", "--chdir", view.folder]
        _replace("callboard.tools.sandbox.bubblewrap", "mount_options", whole)
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

        _set(Watch, "_keep", lambda *_: None)
        _set(Watch, "set_aside", lambda self: ())
    elif fault == "open-home":
        _replace("callboard.app.wiring", "list_private", lambda _: ())
        for name in ("shell.command", "gate.stations"):
            _replace(f"callboard.tools.{name}", "programs_in", lambda *_: ())
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

        opened = getattr(wire, "_http_client")  # noqa: B009
        forever = {"idle_timeout": 3600.0, "connect_timeout": 3600.0}
        _replace(wire.__name__, "_http_client", lambda endpoint, *rest: opened(_with(endpoint, **forever), *rest))
    elif fault == "bare-pieces":
        from callboard.secrets.stream_redactor import StreamRedactor

        _set(StreamRedactor, "add", lambda self, piece: piece)
        _set(StreamRedactor, "pending", lambda self: "")
    elif fault == "bare-facts":
        from callboard.secrets.redaction import Redaction

        _set(Redaction, "redact", lambda self, text: text)
        _set(Redaction, "may_have_secret", lambda self, data: False)
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

        said, unsaid = Batch.add, fault.partition(":")[2]
        _set(Batch, "add", lambda *told: None if told[1].type == unsaid else said(*told))
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
        found = diff(plan)
        return found._replace(text="\n".join(found.text.split("\n")[:5]))

    _replace("callboard.tools.files.changes", "diff", cut)


#: Faults of what is decided on a call.
_OF_THE_GATE: dict[str, Callable[[], None]] = {
    "open-agents": _open_agents,
    "literal-rules": _literal_rules,
    "cut-cards": _cut_cards,
    "miscounted": lambda: _replace("callboard.tools.shell_grammar.parser", "count_commands", lambda _: 1),
}

#: How long an acknowledged transaction stays uncommitted, in seconds: long enough for a kill to fall into it.
LINGER = 0.05


def _acknowledge_early() -> None:
    """Tells each work of the log its outcome once the last of its group has run, and lingers before the commit."""
    from callboard.contracts.errors import Refusal
    from callboard.log.sqlite.schema import FACTS
    from callboard.log.sqlite.writer import Writer

    attempt, settle = getattr(Writer, "_attempt"), getattr(Writer, "_settle")  # noqa: B009

    def early(writer: Any, group: Any) -> Any:
        if not getattr(writer, "_path").endswith(FACTS):  # noqa: B009
            return attempt(writer, group)
        outcomes: list[Any] = []
        runs = [work.run for work in group]

        def noting(run: Any) -> Any:
            def noted(connection: Any) -> Any:
                outcome: Any = None
                try:
                    outcome = run(connection)
                except Refusal as refusal:
                    outcome = refusal
                outcomes.append(outcome)
                if len(outcomes) == len(group):
                    settle(writer, group, outcomes)
                    time.sleep(LINGER)
                if isinstance(outcome, Refusal):
                    raise outcome
                return outcome

            return noted

        for work, run in zip(group, runs, strict=True):
            work.run = noting(run)
        try:
            return attempt(writer, group)
        finally:
            for work, run in zip(group, runs, strict=True):
                work.run = run

    _set(Writer, "_attempt", early)


def _misplace(off: int) -> None:
    """Gives a client that comes back a place that is so many operations off."""
    from callboard.runtime.views.ring import Ring

    place = getattr(Ring, "_find_position")  # noqa: B009

    def misplaced(ring: Any, after: Any) -> Any:
        found = place(ring, after)
        return found if found is None or after == getattr(ring, "_base") else found + off  # noqa: B009

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
    "trust-derived": lambda: _replace("callboard.log.sqlite.rows", "unprotect", lambda stored, *_: stored[4:]),
}


def _reworded(stored: Any) -> Any:
    return stored if stored.payload is None else stored._replace(payload=stored.payload.replace(b"note", b"nope"))


def _with(endpoint: Any, **changes: Any) -> Any:
    from msgspec.structs import replace

    return replace(endpoint, **changes)


def _set(owner: Any, name: str, value: Any) -> None:
    """Replace an attribute that must exist: a sabotage of a renamed attribute would plant nothing."""
    getattr(owner, name)
    setattr(owner, name, value)


def _replace(module: str, name: str, by: Callable[..., Any]) -> None:
    """Puts something else in the place of a function. Raises AttributeError where there is no such function."""
    found = import_module(module)
    getattr(found, name)
    setattr(found, name, by)


if __name__ == "__main__":
    # The product's own imports are not to find the proofs beside this file.
    sys.path.pop(0)
    for fault in sys.argv[1].split(","):
        plant(fault)
    # What a server is started with otherwise: the interpreter and its module.
    sys.argv = ["callboard", *sys.argv[5:]]
    from callboard.app.cli.main import main

    sys.exit(main())
