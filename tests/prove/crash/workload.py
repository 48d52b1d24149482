"""The lanes of a round of the crash proof, and the scenario that answers them.

Every command of an agent appends its token to a file, so that a command that ran twice is seen.
Tokens have the same length, so that none is a prefix of another.
"""

from __future__ import annotations

from typing import Any

from tests.prove.driver import scenes

#: File with the tokens of commands that ran.
RAN = "ran.log"
#: Lanes of a round. Each is a session.
LANES = "ABCDEFGH"
_TURNS = range(3)


def token(round_: int, lane: str, turn: int) -> str:
    """Return the token of a turn."""
    return f"{lane}{round_:05}{turn}"


def scenario(round_: int, earlier: int) -> dict[str, Any]:
    """Return the model's answers in a round, and in the turns that `earlier` rounds left."""
    plays: list[tuple[str, list[scenes.Call]]] = []
    for number in range(earlier, round_ + 1):
        for name in (token(number, lane, turn) for lane in LANES for turn in _TURNS):
            plays += [
                (f"job {name}", [[_command(name)], [scenes.says(f"{name} ran.")]]),
                (
                    f"two {name}",
                    [[_file(name)], [scenes.says("And now. "), _command(name)], [scenes.says(f"{name} ran.")]],
                ),
            ]
    for lane, turn in ((lane, turn) for lane in LANES for turn in _TURNS):
        plays += [(f"talk {token(round_, lane, turn)}", _talk(lane))]
    # Streamed texts are long; those of earlier rounds are truncated.
    plays += [("talk", [[scenes.says("As I said.")]]), (f"book {token(round_, 'G', 0)}", _book()), ("book", _book())]
    return scenes.scenario(plays)


def _command(name: str) -> scenes.Part:
    return scenes.calls("Bash", command=f"echo {name} >> {RAN}; echo began; sleep 0.05; echo ended {name}")


def _file(name: str) -> scenes.Part:
    return scenes.calls("Write", file_path=f"{name}.md", content=f"# {name}\n")


def _talk(lane: str) -> list[scenes.Call]:
    thought = scenes.says(scenes.prose(300, f"{lane}r"), kind="reasoning", chunk=15, delay_ms=1)
    return [[thought, scenes.says(scenes.prose(900, f"{lane}t"), chunk=15, delay_ms=1), scenes.usage(30)]]


def _book() -> list[scenes.Call]:
    return [[scenes.says(scenes.prose(16_000, "b"), chunk=20, delay_ms=1), scenes.usage(400)]]
