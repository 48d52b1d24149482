"""`check`, `backup` and `restore`, and other verbs on a damaged or read-only store or a stopped process."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from callboard.app.backups import backup_restorer, restore
from callboard.app.state_folder import StateFolder
from callboard.contracts.errors import Refusal
from callboard.log.sqlite import schema
from callboard.log.sqlite.store import open_store
from tests.app.rigs.product import Product, command, says, uses

LONG = "All that was said. " * 1000


def run_turns(product: Product, *prompts: str) -> None:
    """Run turns whose answers are blobs."""
    product.plays({"match": [{"text": "", "calls": [says(LONG)]}]})
    for prompt in prompts:
        assert product.run("run", prompt).code == 0


def change(product: Product, statement: str) -> None:
    with closing(sqlite3.connect(product.home / "store" / "callboard.db")) as store:
        store.execute(statement)
        store.commit()


def titles(product: Product) -> list[str]:
    return [card["title"] for card in product.run("sessions", "--json").json]


def problem(done: Any) -> dict[str, Any]:
    text = done if isinstance(done, str) else done.err
    return json.loads(text.splitlines()[-1])


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, except the incident log and the endpoint."""
    return sorted(path.name for path in folder.iterdir() if path.suffix not in (".log", ".json"))


def test_r6_check_reports_a_sound_store_with_its_counts(product: Product):
    """R6"""
    nothing = product.run("check")
    assert (nothing.code, str(product.home) in nothing.err) == (2, True)
    run_turns(product, "One")
    done = product.run("check", "--json")
    (checked,) = done.json
    assert (done.code, checked["damages"], checked["streams"]) == (0, [], 2)
    assert product.run("check").out.startswith("sound  2 streams")


def test_r6_check_names_each_damage_with_what_to_do(product: Product):
    """R6: the damage in the log has the exit code 1; damaged views lose nothing."""
    run_turns(product, "One")
    (product.home / "store" / "views.db").write_bytes(b"no database" * 500)
    done = product.run("check")
    assert (done.code, "derived  views" in done.out, "rebuild it from the log" in done.out) == (0, True, True)

    change(product, "UPDATE facts SET payload = zeroblob(3) WHERE position = 5")
    done = product.run("check")
    assert (done.code, "damaged  fact ses_" in done.out, "callboard restore" in done.out) == (1, True, True)


def test_r6_a_backup_of_a_running_callboard_restores_everything(product: Product, tmp_path: Path):
    """R6: the log with its blobs, the settings, the names of secrets and the uploads; nothing derived and no key."""
    run_turns(product, "One")
    (product.home / "settings.toml").write_text("retention = 7\n")
    (product.home / "uploads").mkdir(exist_ok=True)
    (product.home / "uploads" / "upl_1").write_bytes(b"waiting")
    with product.up():
        assert product.run("run", "Two").code == 0
        done = product.run("backup", str(tmp_path / "b.tar"), "--json")
        assert product.run("check", "--json").json[0]["damages"] == []
    assert done.code == 0, done.err
    assert any("keyring" in note for note in done.json[0]["leftOut"])
    with tarfile.open(tmp_path / "b.tar") as archive:
        assert sorted(archive.getnames()) == ["manifest.json", "settings.toml", "store/callboard.db", "uploads/upl_1"]

    before = [product.run("facts", "last", "--json").out, product.run("view", "last").out, titles(product)]
    shutil.rmtree(product.home)
    assert product.run("restore", str(tmp_path / "b.tar")).code == 0

    assert [product.run("facts", "last", "--json").out, product.run("view", "last").out, titles(product)] == before
    assert (product.home / "settings.toml").read_text() == "retention = 7\n"
    assert (product.home / "uploads" / "upl_1").read_bytes() == b"waiting"
    assert product.run("run", "Three").code == 0
    assert product.run("check").code == 0


def test_r6_restore_needs_a_flag_to_replace_and_keeps_the_former_store(product: Product, tmp_path: Path):
    """R6: the former store is complete under its new name, and no epoch has two histories."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    run_turns(product, "Two", "Three")

    refused = product.run("restore", str(tmp_path / "b.tar"), "--json")
    assert (refused.code, problem(refused)["code"], len(titles(product))) == (4, "store_exists", 3)

    epoch = _epoch(product.home / "store")
    (done,) = product.run("restore", str(tmp_path / "b.tar"), "--replace", "--json").json
    assert (titles(product), _epoch(product.home / "store")) == (["One"], epoch)
    (former,) = done["former"]
    shutil.rmtree(product.home / "store")
    Path(former).rename(product.home / "store")
    assert sorted(titles(product)) == ["One", "Three", "Two"]


def test_r6_each_restore_of_a_second_keeps_the_former_store_under_another_name(product: Product):
    """R6"""
    run_turns(product, "One")
    backup = str(product.place / "good.tar")
    product.run("backup", backup)
    done = [product.run("restore", backup, "--replace", "--json") for _ in range(5)]
    former = [path for result in done for path in result.json[-1]["former"] if "store.before-" in path]
    assert [result.code for result in done] == [0] * 5
    assert len({*former}) == 5
    assert all(Path(path, "callboard.db").exists() for path in former)


def test_r6_the_printed_advice_for_a_damaged_store_works(product: Product, tmp_path: Path):
    """R6: the command of the advice, and the command that `backup --damaged` prints, restore."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "good.tar"))
    change(product, "UPDATE blobs SET data = zeroblob(length(data))")
    advised = re.search(r"`callboard (restore FILE[^`]*)`", product.run("check").out)
    assert advised is not None
    printed = product.run("backup", str(tmp_path / "bad one.tar"), "--damaged").err.splitlines()[-1]

    words = advised[1].replace("FILE", str(tmp_path / "good.tar")).split()
    assert product.run(*words).code == 0
    shutil.rmtree(product.home / "store")
    assert product.run(*shlex.split(printed.partition("callboard ")[2])).code == 0


def test_r3_a_backup_onto_a_full_disk_names_that_disk(product: Product):
    """R3: the disk of the backup is full, and the disk of the store is not."""
    run_turns(product, "One")
    (folder := product.place / "small").mkdir()
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--size", "65536", "--tmpfs", str(folder)]
    done = subprocess.run(
        [*bwrap, *command("backup", str(folder), "--json")],
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    refused = problem(done.stderr)
    assert (done.returncode, refused["code"], refused["field"]) == (1, "store_full", "PLACE")
    assert (str(folder) in refused["message"], str(product.home) in refused["message"]) == (True, False)


def test_r3_a_check_on_a_full_disk_reports_no_damage(product: Product):
    """R3: SQLite reads with an additional file, which needs space."""
    run_turns(product, "One")
    size = sum(path.stat().st_size for path in product.home.rglob("*") if path.is_file())
    (folder := product.place / "full").mkdir()
    fills = f'cp -a {product.home}/. {folder} && dd if=/dev/zero of={folder}/fill bs=4k 2>/dev/null; exec "$@"'
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--size", str(size + 300_000), "--tmpfs", str(folder)]
    done = subprocess.run(
        [*bwrap, "bash", "-c", fills, "-", *command("check", "--json")],
        cwd=product.folder,
        env={**product.environment(), "CALLBOARD_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, problem(done.stderr)["code"]) == (1, "", "store_full")


def test_incidents_on_a_full_disk_print_one_line(product: Product):
    """R3: not a traceback of the logging library."""
    run_turns(product, "One")
    change(product, "UPDATE facts SET payload = zeroblob(3) WHERE position = 6")
    (product.home / "store" / "views.db").unlink()
    log = product.home / "callboard.log"
    log.unlink(missing_ok=True)
    log.symlink_to("/dev/full")
    done = subprocess.run(
        command("run", "Two"),
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr.count("callboard.log cannot be written"), "Traceback" in done.stderr) == (1, False), done.stderr


def test_a_backup_into_a_read_only_folder_is_refused(product: Product):
    """The state folder is sound, so nothing is advised for it."""
    run_turns(product, "One")
    (folder := product.place / "closed").mkdir()
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(folder), str(folder)]
    done = subprocess.run(
        [*bwrap, *command("backup", str(folder), "--json")],
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    refused = problem(done.stderr)
    assert (done.returncode, refused["code"], refused["field"]) == (2, "invalid_input", "PLACE")
    assert "CALLBOARD_HOME" not in refused["hint"]


def test_r5_damaged_views_are_rebuilt_and_the_reason_is_logged(product: Product):
    """R5: it happens before the process opens its incident log."""
    run_turns(product, "One")
    (product.home / "store" / "views.db").write_bytes(b"no database" * 500)
    done = subprocess.run(
        command("run", "Two"),
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "views.db cannot be read and is rebuilt from the log: file is not a database" in done.stderr
    assert sorted(titles(product)) == ["One", "Two"]


def test_r5_a_store_without_its_log_is_not_recreated(product: Product, tmp_path: Path):
    """R5: the start reports the lost sessions, and its advice works."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    (product.home / "store" / "callboard.db").unlink()
    refused = product.run("run", "Two")
    assert (refused.code, "it is missing" in refused.err, "callboard restore" in refused.err) == (1, True, True)
    assert not (product.home / "store" / "callboard.db").exists()
    assert product.run("restore", str(tmp_path / "b.tar"), "--replace").code == 0
    assert titles(product) == ["One"]


def test_r5_a_turn_over_damaged_content_fails_with_how_to_restore(product: Product):
    """R5: the damage is not a failure of the model, and repeating the turn cannot help."""
    run_turns(product, "One")
    change(product, "UPDATE blobs SET data = zeroblob(length(data))")
    done = product.run("run", "Two", "--session", "last")
    assert (done.code, "blob_damaged" in done.err, "callboard restore FILE --replace" in done.err) == (1, True, True)
    assert "Send the turn again" not in done.err


def test_a_missing_backup_is_refused_before_the_store_is_checked(product: Product, tmp_path: Path):
    """Nothing is created, and the hint does not mention `--replace`."""
    refused = product.run("restore", str(tmp_path / "b.tar"), "--json")
    assert (refused.code, problem(refused)["field"], product.home.exists()) == (2, "FILE", False)
    run_turns(product, "One")
    refused = product.run("restore", str(tmp_path / "b.tar"), "--json")
    assert (refused.code, problem(refused)["field"], titles(product)) == (2, "FILE", ["One"])


def test_r6_restore_is_refused_while_a_process_writes(product: Product, tmp_path: Path):
    """R6: the store of a running process is never replaced."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    with product.up():
        refused = product.run("restore", str(tmp_path / "b.tar"), "--replace", "--json")
        assert problem(refused)["code"] == "store_locked"
        assert titles(product) == ["One"]


@pytest.mark.parametrize("how", ["a byte", "half", "other file", "another member", "damaged inside"])
def test_r6_an_incomplete_backup_changes_nothing(product: Product, tmp_path: Path, how: str):
    """R6: the whole backup is checked before any file changes."""
    run_turns(product, "One")
    file = tmp_path / "b.tar"
    if how == "damaged inside":
        change(product, "UPDATE facts SET payload = zeroblob(3) WHERE position = 5")
        assert problem(product.run("backup", str(file), "--json"))["code"] == "chain_broken"
        assert not file.exists()
        assert product.run("backup", str(file), "--damaged").code == 0
    else:
        product.run("backup", str(file))
    data = bytearray(file.read_bytes())
    if how == "a byte":
        data[len(data) // 2] ^= 1
    elif how == "half":
        del data[len(data) // 2 :]
    elif how == "other file":
        data = bytearray(b"no archive at all" * 1000)
    file.write_bytes(data)
    if how == "another member":
        with tarfile.open(file, "a") as archive:
            archive.add(product.folder / "README.md", "../outside")
    before = names_in(product.home)

    refused = product.run("restore", str(file), "--replace", "--json")

    assert problem(refused)["code"] == ("chain_broken" if how == "damaged inside" else "invalid_input")
    assert (names_in(product.home), titles(product)) == (before, ["One"])


def test_s2_a_backup_of_an_older_schema_is_restored_in_the_present_one(
    product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """S2, R6: a backup from before an update is usable after it."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    note = "ALTER TABLE store ADD COLUMN note TEXT NOT NULL DEFAULT ''"
    monkeypatch.setattr(schema, "STEPS", {schema.FACTS_SCHEMA: lambda connection: connection.execute(note)})
    monkeypatch.setattr(schema, "FACTS_SCHEMA", schema.FACTS_SCHEMA + 1)

    done = product.run("restore", str(tmp_path / "b.tar"), "--replace")

    assert (done.code, titles(product)) == (0, ["One"])
    assert [path.name for path in (product.home / "store").iterdir() if "layout" in path.name] == []


@pytest.mark.parametrize("there", [True, False])
def test_r6_no_process_starts_writing_during_a_restore(product: Product, tmp_path: Path, *, there: bool):
    """R6: also without a former store, and a failed restore creates none."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    state_folder = StateFolder(product.home)
    if not there:
        shutil.rmtree(state_folder.store)
    codes: list[str] = []

    def start(_: str) -> None:
        try:
            asyncio.run(open_store(state_folder.store).close())
        except Refusal as refusal:
            codes.append(refusal.code)

    with pytest.raises(Refusal):
        restore(state_folder, tmp_path / "none.tar", replace=there, progress=start)
    assert state_folder.has_store() == there
    done = restore(state_folder, tmp_path / "b.tar", replace=there, progress=start)

    assert set(codes) == {"store_locked"}
    assert (len(done.former), len(list(product.home.glob("store*")))) == (int(there), 1 + int(there))
    assert titles(product) == ["One"]


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("exchanges", [True, False])
def test_r6_an_interrupted_restore_loses_no_store(
    product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, *, exchanges: bool
):
    """R6: at each step the former store exists under its name or its new name."""
    run_turns(product, "One")
    product.run("backup", str(tmp_path / "b.tar"))
    run_turns(product, "Two")
    rename, renamed = Path.rename, list[Path]()

    def interrupted(self: Path, target: Path) -> Path:
        if len(renamed) == step:
            raise KeyboardInterrupt
        renamed.append(target)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    if not exchanges:
        monkeypatch.setattr(backup_restorer, "_exchange", lambda *_: False)
    product.run("restore", str(tmp_path / "b.tar"), "--replace")
    monkeypatch.undo()

    stores = [path for path in product.home.rglob("callboard.db") if not path.parent.name.startswith(".")]
    sessions = {_sessions(path) for path in stores}
    assert 2 in sessions, sessions


@pytest.mark.parametrize("kind", ["ses_%", "wks_%"])
def test_a_damaged_stream_does_not_hide_other_sessions(product: Product, kind: str):
    """S1: unreadable sessions, and sessions of unreadable workspaces, are listed as damaged."""
    run_turns(product, "One", "Two")
    of_stream = f"stream = (SELECT min(number) FROM streams WHERE name LIKE '{kind}')"
    change(product, f"UPDATE facts SET payload = zeroblob(3) WHERE {of_stream} AND sequence = 2")
    (product.home / "store" / "views.db").unlink()

    done = product.run("sessions", "--json")

    assert done.code == 0
    listed = [(card["title"], card["state"]) for card in done.json]
    assert listed == [("Two", "idle" if kind == "ses_%" else "damaged"), ("One", "damaged")]
    assert product.run("view", "last").code == 0


def test_a_tampered_log_is_printed_up_to_the_change(product: Product):
    """The output ends with the error."""
    run_turns(product, "One")
    whole = product.run("facts", "last", "--json").json
    session = whole[0]["sessionId"]
    number = "(SELECT number FROM streams WHERE name LIKE 'ses_%')"
    change(product, f"UPDATE facts SET payload = CAST(payload || ' ' AS BLOB) WHERE stream = {number} AND sequence = 6")

    done = product.run("facts", "last", "--json")

    assert (done.code, done.json) == (1, whole[:5])
    assert (problem(done)["code"], f"{session}/6" in problem(done)["message"]) == ("chain_broken", True)


def test_r5_a_store_on_a_read_only_file_system_is_read(product: Product):
    """R5: with and without the write-ahead log of a killed process. Nothing is written or missing."""
    run_turns(product, "One")
    verbs = (["sessions", "--json"], ["facts", "last", "--json"], ["check", "--json"])
    before = [product.run(*verb).out for verb in verbs]
    assert [_run_read_only(product, *verb) for verb in verbs] == before

    with product.up() as (running, _):
        assert product.run("run", "Two").code == 0
        running.signal(signal.SIGKILL)
        running.wait()
    # As after a power failure: the last writes are in the write-ahead log.
    (product.home / "store" / "callboard.db-shm").unlink()
    assert (product.home / "store" / "callboard.db-wal").stat().st_size > 0
    frozen = [_run_read_only(product, *verb) for verb in verbs]
    assert frozen == [product.run(*verb).out for verb in verbs]
    assert '"title":"Two"' in frozen[0]


def test_r5_doctor_names_a_stopped_process(product: Product):
    """R5: it does not report that no process runs."""
    with product.up() as (running, ready):
        running.signal(signal.SIGSTOP)
        try:
            process_finding = {finding["name"]: finding for finding in product.run("doctor", "--json").json}["process"]
        finally:
            running.signal(signal.SIGCONT)
        assert process_finding["state"] == "bad"
        assert process_finding["message"] == f"process {ready['pid']} writes to the store and is stopped"
        assert process_finding["fix"] == f"kill -CONT {ready['pid']}"


def test_r5_doctor_names_a_damaged_blob_and_the_extent_of_its_check(product: Product):
    """R5"""
    run_turns(product, "One")
    store = {finding["name"]: finding for finding in product.run("doctor", "--json").json}["store"]
    assert (store["state"], "quick check" in store["message"]) == ("ok", True)
    change(product, "UPDATE blobs SET data = zeroblob(length(data))")
    store = {finding["name"]: finding for finding in product.run("doctor", "--json").json}["store"]
    assert (store["state"], store["fix"]) == ("bad", "callboard check")
    assert product.run("doctor").code == 1


def _run_read_only(product: Product, *arguments: str) -> str:
    """Run a verb on a state folder that even root cannot write to."""
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(product.home), str(product.home)]
    done = subprocess.run(
        [*bwrap, *command(*arguments)],
        cwd=product.folder,
        env=product.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _epoch(store: Path) -> int:
    with closing(sqlite3.connect(store / "callboard.db")) as connection:
        return connection.execute("SELECT epoch FROM store").fetchone()[0]


def _sessions(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM streams WHERE name LIKE 'ses_%'").fetchone()[0]


def test_a_turn_with_a_file_is_in_a_backup_with_its_versions(product: Product, tmp_path: Path):
    """R6"""
    product.plays({"calls": [uses("Write", "Now.", file_path="report.md", content="# R\n"), says(LONG)]})
    product.run("run", "Write", "--approve", "all")
    before = product.run("artifacts", "last", "--json").out
    product.run("backup", str(tmp_path / "b.tar"))
    product.run("restore", str(tmp_path / "b.tar"), "--replace")
    assert product.run("artifacts", "last", "--json").out == before


def test_r5_a_running_server_lists_a_damaged_session_with_the_reason_and_what_to_do(product: Product):
    """R5: it stays in the list."""
    run_turns(product, "One", "Two")
    change(product, "UPDATE facts SET payload = zeroblob(3) WHERE position = 5")
    (product.home / "store" / "views.db").unlink()
    alone = product.run("sessions")
    with product.up():
        beside = product.run("sessions")

    assert beside.out == alone.out
    assert ("damaged" in beside.out, "differs from the appended one" in beside.out) == (True, True)
    assert ("callboard check" in beside.err, "callboard restore FILE" in beside.err) == (True, True)


@pytest.mark.parametrize("place", ["b.tar", ".", "deep/b.tar", "link/b.tar"])
def test_r6_a_backup_that_agents_could_read_is_refused_without_a_flag(product: Product, tmp_path: Path, place: str):
    """R6, SAFE: a backup contains the sessions of all folders. Links are resolved."""
    run_turns(product, "One")
    (product.folder / "deep").mkdir()
    (tmp_path / "link").symlink_to(product.folder / "deep")
    target = str(tmp_path / place if place.startswith("link") else product.folder / place)

    refused = product.run("backup", target, "--json")
    assert (refused.code, problem(refused)["field"]) == (2, "PLACE")
    assert ("agents work" in problem(refused)["message"], "--in-project" in problem(refused)["hint"]) == (True, True)
    assert list(product.folder.rglob("*.tar")) == []

    allowed = product.run("backup", target, "--in-project")
    assert (allowed.code, f"Agents in {product.folder.resolve()} can read this backup" in allowed.err) == (0, True)
