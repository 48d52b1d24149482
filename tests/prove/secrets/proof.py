"""Proof that secrets are in no stored, sent or shown byte, and that what uses them still runs.

Secrets are drawn for each run and given to the product as a user does: in the environment, in the
keyring, and by a command. Others are stored nowhere and have the shape of tokens. They are in
prompts, in files, in an agent's definition, in attachments, in the scripted model's text and calls
(in pieces of every size), and in the output of commands, literal, escaped and encoded. While
clients follow, a server is killed in the middle of an answer, and a session is exported and
deleted. Then every byte is searched: database, write-ahead log and free pages, blobs, packs,
answers, live frames, logs and the whole state folder. The values must be only where commands and
files used them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from tests.prove.driver import scenes
from tests.prove.driver.product import ROOT, Place, Server, environment_of, place
from tests.prove.driver.report import Report, arguments, run
from tests.prove.driver.session_driver import do, over, submit, until
from tests.prove.driver.store import DATABASE
from tests.prove.driver.wire import Gone
from tests.prove.secrets.planted_secrets import Looking, PlantedSecrets, draw_secrets, forms, lines

DISK = "no byte of the state folder has a secret: database, write-ahead log, free pages, blobs, logs"
KILLED = "nor after a kill in the middle of an answer"
DELETED = "nor after the session was deleted"
LIVE = "no event or live frame that a client received has one"
ANSWERS = "no answer over HTTP has one, including refusals"
PACK = "no evidence pack has one"
OUTPUT = "no output of the process has one"
RAN = "a command and a file with handles had the values"
KEY = "the key of a provider is given to no tool"
LOST = "what only looked like a secret to a process that has ended is refused with what to do"
NET = "nothing had to be redacted on its way into the log"
SIZES = (1, 2, 3, 5, 8, 13, 40)
Row = dict[str, Any]


class Ears:
    """A client that follows everything and keeps every byte."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tasks: list[asyncio.Task[None]] = []
        self.heard = bytearray()

    def follow(self, session: str) -> None:
        """Follow both streams of a session."""
        for feed in ("ops", "events"):
            self._tasks.append(asyncio.create_task(self._listen(f"/sessions/{session}/{feed}")))

    async def end(self) -> None:
        """Disconnect."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self, path: str) -> None:
        try:
            async with self._server.wire.stream(path) as body:
                while data := await body.read(1 << 16):
                    self.heard += data
        except Gone:
            return


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\"'\"'") + "'"


def _full_answer(drawn: PlantedSecrets) -> list[scenes.Part]:
    """Return an answer with every form of every secret, in pieces of every size."""
    parts: list[scenes.Part] = []
    every = [*drawn.named.values(), drawn.key]
    for turn, size in enumerate(SIZES):
        value = every[turn % len(every)]
        parts.append(scenes.says(f"I know {value} and {' '.join(forms(value))}.\n", chunk=size))
        parts.append(
            scenes.says(f"Hm: {value}, {drawn.tokens[turn % len(drawn.tokens)]}", chunk=size, kind="reasoning")
        )
    parts += [scenes.says(f"See {token} there. ", chunk=SIZES[turn % 7]) for turn, token in enumerate(drawn.tokens)]
    return [*parts, scenes.says(drawn.pem, chunk=7)]


def _play(at: Place, drawn: PlantedSecrets) -> None:
    deploy, hard = drawn.named["DEPLOY"], drawn.named["HARD"]
    token = drawn.tokens[0]
    (at.folder / "deploy.env").write_text(lines([*drawn.named.values(), drawn.key, *drawn.tokens]) + drawn.pem)
    (at.folder / "AGENTS.md").write_text(f"Never reveal {deploy} or {drawn.tokens[1]}.\n")
    (at.folder / "agents").mkdir()
    head = f"name: lead\ndescription: Knows {deploy}\nkind: main\nlead: true\ntools: ['*']\npolicy: [Patch, Finalize]"
    lead = f"---\n{head}\n---\nThe key is {hard}.\n"
    (at.folder / "agents" / "lead.md").write_text(lead)
    prints = " ".join(_quoted(form) for form in [*forms(deploy), *forms(hard), *drawn.tokens, drawn.pem])
    slowly = "; ".join(f"printf %s {_quoted(deploy[i : i + 5])}; sleep 0.03" for i in range(0, len(deploy), 5))
    bash = lambda command: scenes.calls("Bash", command=command)
    at.play(
        scenes.scenario(
            [
                ("say all", [[*_full_answer(drawn)]]),
                (
                    "use all",
                    [
                        [bash(f"printf %s {_quoted(deploy)} | sha256sum > a.txt; printf '%s\\n' {prints}; {slowly}")],
                        [bash("printf %s secret://DEPLOY | sha256sum > b.txt; printf %s secret://VAULT | base64")],
                        [bash(f"printf %s {_quoted(token)} | sha256sum > c.txt; env; cat deploy.env | od -c | head")],
                        [
                            scenes.calls(
                                "Write", file_path="config.ini", content=f"a={deploy}\nb=secret://LATER\nc={hard}\n"
                            )
                        ],
                        [scenes.calls("Edit", file_path="config.ini", old_string="secret://DEPLOY", new_string=token)],
                        [scenes.calls("Read", file_path="deploy.env")],
                        [scenes.calls("Grep", pattern=deploy[:20], output_mode="content")],
                        [scenes.calls("Read", file_path=f"no/{deploy}")],
                        [bash(f"cat deploy.env; echo {_quoted(drawn.key)} >&2; exit 3")],
                        [bash("printf %s secret://OPENAI_API_KEY > stolen.txt")],
                        [scenes.says("Done.")],
                    ],
                ),
                (
                    "stay",
                    [[scenes.says(f"It begins with {deploy} and {token} and {deploy[:20]}", chunk=4), scenes.waits()]],
                ),
                ("again", [[bash("printf %s secret://DEPLOY | sha256sum > d.txt")], [scenes.says("Done.")]]),
                ("lost", [[bash("printf %s {input} > lost.txt")], [scenes.says("Done.")]]),
            ]
        )
    )


def _before(at: Place, drawn: PlantedSecrets, sabotage: str) -> list[str]:
    """Return the command that starts a server with a user's environment."""
    secrets = {
        "CALLBOARD_SECRET_DEPLOY": drawn.named["DEPLOY"],
        "CALLBOARD_SECRET_HARD": drawn.named["HARD"],
        "OPENAI_API_KEY": drawn.key,
        **_keyring(at),
    }
    planted = [sys.executable, str(Path(__file__).parents[1] / "driver" / "sabotages.py"), sabotage] if sabotage else []
    return ["env", *(f"{name}={value}" for name, value in secrets.items()), *planted]


def _keyring(at: Place) -> dict[str, str]:
    return {
        "PYTHON_KEYRING_BACKEND": "keyring_fake.Drawer",
        "PYTHONPATH": str(ROOT / "tests" / "secrets"),
        "KEYRING_DRAWER": str(at.root / "drawer.json"),
    }


def _keep(at: Place, name: str, value: str) -> str:
    """Store a secret as a person does in a terminal. Return the output."""
    done = subprocess.run(
        [sys.executable, "-m", "callboard", "secrets", "set", name],
        input=value,
        capture_output=True,
        text=True,
        check=False,
        env={**environment_of(at), **_keyring(at)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def _upload(server: Server, drawn: PlantedSecrets) -> bytes:
    request = urllib.request.Request(
        f"{server.wire.url}/api/v1/uploads?name=keys.txt",
        data=lines([*drawn.named.values(), *drawn.tokens]).encode(),
        headers={"Authorization": f"Bearer {server.wire.token}"},
        method="POST",
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read()


async def _rest(server: Server, session: str) -> None:
    """Approve every request until the session is at rest."""
    for _ in range(400):
        read = (await server.wire.get(f"/queries/get_thread_read?sessionId={session}")).body
        for action in read["actions"]:
            await do(server, "respond_action", sessionId=session, actionId=action["actionId"], decision="approve")
        if read["status"]["status"] in ("done", "failed", "idle") and not read["queue"]:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{session} has not come to rest: {read}")


async def _answers(server: Server, drawn: PlantedSecrets, session: str) -> bytes:
    """Return the answers to valid and invalid requests."""
    deploy = drawn.named["DEPLOY"]
    answers = [
        await server.wire.get(f"/queries/get_session?sessionId={session}"),
        await server.wire.get(f"/queries/get_turns?sessionId={session}"),
        await server.wire.get("/queries/list_secrets"),
        await server.wire.get("/queries/list_sessions"),
        await server.wire.post("set_secret", {"name": "SHORT", "value": drawn.named["VAULT"][:5]}),
        await server.wire.post("set_secret", {"name": "bad name", "value": drawn.named["VAULT"]}),
        await server.wire.post("set_secret", {"name": "DEPLOY", "value": drawn.named["LATER"]}),
        await server.wire.post("update_session", {"sessionId": session, "title": f"With {deploy}"}, f"key-{session}"),
        await server.wire.post("steer_turn", {"sessionId": session, "turnId": deploy, "text": deploy}),
        await server.wire.post("interrupt_turn", {"sessionId": session, "reason": drawn.tokens[0]}),
    ]
    turns = (await server.wire.get(f"/queries/get_turns?sessionId={session}")).body["turns"]
    answers += [await server.wire.get(f"/queries/get_parts?sessionId={session}&turnId={t['key']}") for t in turns]
    return json.dumps([answer.body for answer in answers]).encode()


async def _blob(server: Server, ref: Row) -> bytes:
    data = bytearray()
    async with server.wire.stream(f"/blobs/{ref['hash']}?name=pack.zip") as body:
        while piece := await body.read(1 << 16):
            data += piece
    return bytes(data)


def _check_ran(report: Report, at: Place, drawn: PlantedSecrets) -> None:
    """Check that the values were used."""
    deploy, token = drawn.named["DEPLOY"], drawn.tokens[0]
    for name, value in (("a.txt", deploy), ("b.txt", deploy), ("c.txt", token)):
        written = (at.folder / name).read_text().split()[0] if (at.folder / name).exists() else "nothing"
        report.check(RAN, written == _digest(value), f"{name} has {written}")
    config = (at.folder / "config.ini").read_text() if (at.folder / "config.ini").exists() else ""
    expected = f"a={token}\nb={drawn.named['LATER']}\nc={drawn.named['HARD']}\n"
    report.check(RAN, config == expected, f"config.ini has other {len(config)} characters")
    stolen = (at.folder / "stolen.txt").exists()
    report.check(KEY, not stolen, "the command ran")


async def prove(n: int, sabotage: str, seed: int) -> int:
    """Run the proof n times. Return the exit code. A secret never comes from a seed."""
    report = Report("secrets")
    for turn in range(n):
        with place() as at:
            await _once(report, at, draw_secrets(), sabotage)
        report.progress(f"{turn + 1} of {n}", every=0)
    return report.end()


async def _once(report: Report, at: Place, drawn: PlantedSecrets, sabotage: str) -> None:
    looking = Looking(drawn)
    _play(at, drawn)
    report.none(OUTPUT, looking.find("callboard secrets", _keep(at, "VAULT", drawn.named["VAULT"]).encode()))
    server = await Server.start(at, before=_before(at, drawn, sabotage))
    ears, heard = Ears(server), bytearray()
    try:
        stored = await do(server, "set_secret", "one-key", name="LATER", value=drawn.named["LATER"])
        report.check(ANSWERS, stored == {"name": "LATER", "place": "keyring", "handle": "secret://LATER"}, str(stored))
        upload = json.loads(_upload(server, drawn))
        prompt = f"say all: {' '.join([*drawn.named.values(), drawn.key, *drawn.tokens])}\n{drawn.pem}"
        session = (
            await do(
                server,
                "submit_turn",
                "turn-key",
                workspaceId=server.workspace,
                text=prompt + " ".join(form for value in drawn.named.values() for form in forms(value)),
                attachments=[{"upload": upload["upload"]}],
            )
        )["sessionId"]
        ears.follow(session)
        await over(server, session)
        await submit(server, f"use all, {drawn.tokens[2]}", session, permissionMode="full")
        await _rest(server, session)
        _check_ran(report, at, drawn)
        report.none(ANSWERS, looking.find("HTTP", await _answers(server, drawn, session)))
        packed = await do(server, "export_evidence", sessionId=session)
        report.none(PACK, looking.pack(await _blob(server, packed["pack"])))
        report.none(DISK, looking.under(at.home))
        await submit(server, "stay", session)
        await _partial(at, ears)
        await server.kill()
        heard += ears.heard
        report.none(KILLED, looking.under(at.home))
        await ears.end()
        server = await Server.start(at, before=_before(at, drawn, sabotage))
        await _after_restart(report, at, drawn, server)
        await do(server, "delete_session", sessionId=session, confirm=session)
        report.none(DELETED, looking.under(at.home))
    finally:
        await ears.end()
        await server.stop()
    report.check(LIVE, len(heard) > 10_000, f"only {len(heard)} bytes were heard")
    report.none(LIVE, looking.find("live", bytes(heard)))
    report.none(DISK, looking.under(at.home))
    report.none(OUTPUT, looking.find("stderr", (at.root / "stderr").read_bytes()))
    caught = [line for path in at.home.glob("callboard.log*") for line in path.read_text().splitlines()]
    report.none(NET, [line for line in caught if "as far as the log" in line])
    report.figure("looked through", f"{looking.bytes / 1e6:.1f} MB for {len(drawn.every)} secrets")


async def _partial(at: Place, ears: Ears) -> None:
    """Wait until the partial answer was shown and stored.

    All pieces except the first arrive together.
    """
    # A checkpoint moves it from the write-ahead log into the database.
    is_stored = lambda: any(b"egins with" in file.read_bytes() for file in at.store.glob(f"{DATABASE}*"))
    assert await until(lambda: b"egins with" in bytes(ears.heard) and is_stored(), 30, 0.02), (
        "nothing of the answer was kept"
    )


async def _after_restart(report: Report, at: Place, drawn: PlantedSecrets, server: Server) -> None:
    session = await submit(server, "again", permissionMode="full")
    await _rest(server, session)
    written = (at.folder / "d.txt").read_text().split()[0] if (at.folder / "d.txt").exists() else "nothing"
    report.check(RAN, written == _digest(drawn.named["DEPLOY"]), f"after a restart d.txt has {written}")
    session = await submit(server, "lost secret://seen-0123456789ab", permissionMode="full")
    await _rest(server, session)
    turns = (await server.wire.get(f"/queries/get_turns?sessionId={session}")).body["turns"]
    parts = (await server.wire.get(f"/queries/get_parts?sessionId={session}&turnId={turns[0]['key']}")).body
    text = json.dumps(parts)
    report.check(LOST, "secret_missing" in text and not (at.folder / "lost.txt").exists(), text[:300])


if __name__ == "__main__":
    options = arguments(__doc__, n=1, help_n="runs, each with new secrets").parse_args()
    os.environ.pop("OPENAI_API_KEY", None)
    sys.exit(run(prove(options.n, options.sabotage, options.seed), 120 + 60 * options.n))
