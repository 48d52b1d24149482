"""Files opened from the folder's handle without following links."""

from __future__ import annotations

import gc
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.tools.files.handles import Folder, list_entries
from callboard.tools.files.paths import PathDenied

Make = Callable[[Path], object]


def _socket(path: Path) -> None:
    # A socket's address is limited to 108 bytes, so the path is relative.
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


SPECIAL: list[tuple[str, Make, str]] = [
    ("link to a file outside", lambda path: path.symlink_to("/etc/passwd"), "a symbolic link, which no tool follows"),
    ("link to a file inside", lambda path: path.symlink_to("README.md"), "a symbolic link, which no tool follows"),
    ("link to nothing", lambda path: path.symlink_to("nowhere"), "a symbolic link, which no tool follows"),
    ("link to a folder", lambda path: path.symlink_to("src"), "a symbolic link, which no tool follows"),
    ("named pipe", os.mkfifo, "a named pipe"),
    ("socket", _socket, "a socket"),
]
if os.geteuid() == 0:
    SPECIAL.append(
        ("device", lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5)), "a character device")
    )


@pytest.mark.parametrize(("make", "kind"), [case[1:] for case in SPECIAL], ids=[case[0] for case in SPECIAL])
def test_special_files_are_refused_with_their_kind(folder: Path, make: Make, kind: str):
    """SAFE-01"""
    make(folder / "odd")

    with Folder(str(folder)) as opened:
        for use in (opened.read_status, opened.open_file):
            with pytest.raises(PathDenied) as denied:
                use("odd")
            assert denied.value.message == f"odd is {kind}."


@pytest.mark.parametrize("target", ["../outside", "src", "/"])
def test_a_link_in_the_path_is_refused(folder: Path, target: str):
    """SAFE-01"""
    (folder / "way").symlink_to(target)

    with Folder(str(folder)) as opened, pytest.raises(PathDenied) as denied:
        opened.open_file("way/app.py")

    assert denied.value.message == "way is a symbolic link, which no tool follows."


def test_no_folder_is_created_through_a_link(folder: Path):
    """SAFE-01"""
    (folder / "way").symlink_to("../outside")

    with Folder(str(folder)) as opened, pytest.raises(PathDenied), opened.open_directory("way/new", create=True):
        pass

    assert not (folder / "../outside/new").exists()


def test_a_file_in_the_path_is_not_a_folder(folder: Path):
    with Folder(str(folder)) as opened:
        assert opened.read_status("README.md/x") is None
        assert opened.read("README.md/x", 10) is None
        with pytest.raises(NotADirectoryError):
            opened.open_file("README.md/x")


@pytest.mark.parametrize("inside", ["", "store", "store/deeper"])
def test_a_folder_in_a_hidden_folder_is_not_opened(folder: Path, inside: str):
    """Hidden folders are hidden from all tools, also if the workspace is hidden."""
    (folder / "state" / "store" / "deeper").mkdir(parents=True)
    with pytest.raises(PathDenied) as denied:
        Folder(str(folder / "state" / inside), hidden=[str(folder / "state")])
    assert denied.value.message == "Callboard keeps its own data in this folder, so no tool works there."


def test_a_hidden_folder_is_not_entered_under_any_name(folder: Path):
    """Hidden folders are hidden from all tools."""
    (folder / "state").mkdir()
    (folder / "state" / "key").write_text("the key")

    with Folder(str(folder), hidden=[str(folder / "state")]) as opened:
        with pytest.raises(PathDenied) as denied:
            opened.read("state/key", 100)
        assert denied.value.message == "state is private: agents cannot open it."
        (folder / "state").rename(folder / "other")
        with pytest.raises(PathDenied) as denied:
            opened.read("other/key", 100)
        assert denied.value.message == "other is private: agents cannot open it."


def test_a_name_that_flips_to_a_link_never_leads_outside(folder: Path):
    """SAFE-01: the name alternates between a folder and a link during the reads."""
    (folder / "turn").mkdir()
    (folder / "turn" / "secret.txt").write_text("inside")
    (folder / "link").symlink_to("../outside")
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            (folder / "turn").rename(folder / "spare")
            (folder / "link").rename(folder / "turn")
            (folder / "turn").rename(folder / "link")
            (folder / "spare").rename(folder / "turn")

    swapping = threading.Thread(target=swap)
    swapping.start()
    results: set[bytes | str | None] = set()
    try:
        with Folder(str(folder)) as opened:
            for _ in range(3000):
                try:
                    results.add(opened.read("turn/secret.txt", 100))
                except PathDenied as denied:
                    results.add(denied.message)
            done.set()
            swapping.join()
            assert opened.read("turn/secret.txt", 100) == b"inside"
    finally:
        done.set()
        swapping.join()
    assert results <= {b"inside", None, "turn is a symbolic link, which no tool follows."}


def test_entries_are_listed_without_following_links(folder: Path):
    (folder / "link").symlink_to("src")

    with Folder(str(folder)) as opened, opened.open_directory("") as handle:
        entries = [(name, stat.S_IFMT(status.st_mode)) for name, status in list_entries(handle)]

    assert entries == [("README.md", stat.S_IFREG), ("link", stat.S_IFLNK), ("src", stat.S_IFDIR)]


def test_no_handle_stays_open(folder: Path):
    # The collector could close handles of earlier tests during this one.
    gc.collect()
    before = _handles()

    for path in ("README.md", "src/app.py", "nothing", "no/where", "README.md/x"):
        with Folder(str(folder)) as opened:
            opened.read(path, 10)
            opened.read_status(path)

    assert _handles() == before


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 500])
def test_a_file_is_read_up_to_one_byte_more_than_the_limit(folder: Path, size: int):
    """The byte shows the caller that the file is larger."""
    (folder / "text").write_bytes(bytes(range(10)) * 50)
    os.truncate(folder / "text", size)
    with Folder(str(folder)) as opened:
        assert opened.read("text", 10) == (folder / "text").read_bytes()[:11]


def test_a_file_without_a_size_is_read_completely():
    with Folder(f"/proc/{os.getpid()}") as opened:
        assert opened.read("comm", 100) == Path("/proc/self/comm").read_bytes()
        assert opened.read("comm", 3) == Path("/proc/self/comm").read_bytes()[:4]
