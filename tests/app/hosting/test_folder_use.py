"""R9: two processes with different state folders on one project folder."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from callboard.app.folder_use import FolderClaim, FolderUse, find_others
from tests.app.rigs.product import Product, says


@pytest.fixture
def other(product: Product, tmp_path: Path) -> Product:
    """Provide a product with a second state folder and the first one's project folder."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    product.variables["XDG_RUNTIME_DIR"] = str(runtime)
    second = Product(tmp_path / "second", dict(product.variables))
    return second.plays({"calls": [says("Done.")]})


def findings_of(product: Product, folder: Path) -> list[dict[str, Any]]:
    """The findings of `doctor` about other uses of the folder."""
    return [
        finding
        for finding in product.run("doctor", "--json", "--folder", str(folder)).json
        if finding["name"] == "folder use"
    ]


def test_up_run_and_doctor_name_another_process_that_serves_the_folder(product: Product, other: Product) -> None:
    """R9: nothing is written to the folder."""
    before = sorted(product.folder.rglob("*"))
    with product.up() as (_, first), other.up("--folder", str(product.folder)) as (_, second):
        use = {"pid": first["pid"], "home": str(product.home), "folders": [str(product.folder)]}
        assert (first.get("alsoServedBy"), second["alsoServedBy"]) == ([], [use])
        warning = f"Process {first['pid']} serves this folder too, with the state folder {product.home}."
        done = other.run("run", "Go", "--folder", str(product.folder))
        assert (done.code, done.out.strip(), warning in done.err) == (0, "Done.", True)
        assert warning in other.run("run", "Go on", "--session", "last").err
        assert warning in other.run("job", "start", "Look.", "alpha", "--folder", str(product.folder)).err
        assert warning in other.run("up", "--no-browser", "--folder", str(product.folder)).out
        (finding,) = findings_of(other, product.folder)
        expected = f"process {first['pid']} serves {product.folder} with the state folder {product.home}"
        assert (finding["state"], finding["message"]) == ("warn", expected)
        assert findings_of(other, other.folder) == []
    assert sorted(product.folder.rglob("*")) == before


def test_a_process_announces_every_opened_folder(product: Product, other: Product, tmp_path: Path) -> None:
    """R9: also folders of earlier starts, whose schedules run."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with product.up():
        assert product.run("up", "--json", "--folder", str(elsewhere)).code == 0
        assert len(findings_of(other, elsewhere)) == 1
    with product.up():
        assert len(findings_of(other, elsewhere)) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_ended_process_causes_no_warning(product: Product, other: Product, number: signal.Signals) -> None:
    """R9: the next start removes the announcement of a killed process."""
    with product.up() as (running, _):
        running.signal(number)
        running.wait()
        left = list(Path(product.variables["XDG_RUNTIME_DIR"], "callboard").iterdir())
        assert len(left) == (number == signal.SIGKILL)
        assert findings_of(other, product.folder) == []
        with other.up("--folder", str(product.folder)) as (_, ready):
            assert ready["alsoServedBy"] == []
            assert not any(path.exists() for path in left)


def test_two_names_of_one_state_folder_cause_no_warning(product: Product, other: Product) -> None:
    """R9"""
    link = other.place / "link"
    link.symlink_to(product.home)
    with product.up():
        other.variables["CALLBOARD_HOME"] = str(link)
        assert findings_of(other, product.folder) == []


@pytest.mark.parametrize("open_to_others", [False, True])
def test_announcements_that_another_user_can_write_are_ignored(tmp_path: Path, open_to_others: bool) -> None:
    """R9: a link, or a folder that others can write to, is neither read nor written."""
    tmp_path.chmod(0o700)
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
    forged = tmp_path / "callboard"
    forged.mkdir(mode=0o700)
    use = FolderUse(pid=1, home="/elsewhere", folders=(str(tmp_path),))
    (forged / "forged.json").write_bytes(msgspec.json.encode(use))
    with (forged / "forged.json").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert find_others(tmp_path, Path("/home"), environment) == (use,)
        if open_to_others:
            forged.chmod(0o777)
        else:
            forged.rename(tmp_path / "target")
            forged.symlink_to(tmp_path / "target")
        assert find_others(tmp_path, Path("/home"), environment) == ()
        claim = FolderClaim(tmp_path / "home", environment)
        claim.add(str(tmp_path))
        assert [path.name for path in forged.iterdir()] == ["forged.json"]
        claim.release()
    assert find_others(tmp_path, Path("/home"), environment) == ()


def test_a_process_whose_file_was_removed_announces_itself_again(tmp_path: Path) -> None:
    """R9: a cleaner may remove temporary files."""
    tmp_path.chmod(0o700)
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
    claim = FolderClaim(tmp_path / "home", environment)
    claim.add("/first")
    for path in (tmp_path / "callboard").iterdir():
        path.unlink()
    claim.add("/second")
    use = FolderUse(pid=os.getpid(), home=str(tmp_path / "home"), folders=("/first", "/second"))
    assert find_others("/first", Path("/other"), environment) == (use,)
    claim.release()
    assert find_others("/first", Path("/other"), environment) == ()
