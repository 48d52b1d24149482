"""The file that a backup is: a tar archive whose first member lists the others with their hashes."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from itertools import islice
from pathlib import Path

import msgspec

from callboard.contracts.errors import Refusal

MANIFEST = "manifest.json"
#: What a backup contains: the log, files of the state folder, and files in its folder of uploads.
LOG = "store/callboard.db"
FILES = ("settings.toml", "secrets.json")
UPLOADS = "uploads"
#: The version of the archive. One of a newer version is refused.
FORMAT = 1
#: What a manifest may take at most, in bytes.
_LARGEST_MANIFEST = 16 * 1024 * 1024
_PIECE = 1 << 20


class Member(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One file of the state folder, by its path there. `sha256` is in hex, `size` in bytes."""

    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a backup contains. `made_at` is in microseconds since the epoch; `damages` counts what was damaged in the store."""

    format: int
    version: str
    made_at: int
    store_id: str
    streams: int
    facts: int
    blobs: int
    members: tuple[Member, ...]
    damages: int = 0


def describe_member(path: Path, name: str) -> Member:
    """Return the member for a file, read once for its hash. Raises OSError."""
    found, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            size += len(piece)
    return Member(path=name, size=size, sha256=found.hexdigest())


def write(place: Path, folder: Path, manifest: Manifest) -> None:
    """Write an archive whose members are in a folder beside it: whole under its name, or not at all. Raises OSError."""
    half = folder / f".{os.getpid()}.part"
    try:
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
                data = msgspec.json.format(msgspec.json.encode(manifest))
                archive.addfile(_info(MANIFEST, len(data)), io.BytesIO(data))
                for member in manifest.members:
                    with (folder / member.path).open("rb") as content:
                        archive.addfile(_info(member.path, member.size), content)
            file.flush()
            os.fsync(file.fileno())
        half.replace(place)
    finally:
        half.unlink(missing_ok=True)


def unpack(place: Path, into: Path) -> Manifest:
    """Unpack an archive into a folder and check each file against the manifest.

    Raises:
        Refusal: `invalid_input` where the file is no backup, is of a newer version, or was changed.
        OSError: Where the files cannot be written.
    """
    try:
        with place.open("rb") as file, tarfile.open(fileobj=file, mode="r:") as archive:
            manifest = _manifest(archive, place)
            wanted = {member.path: member for member in manifest.members}
            for info in islice(archive, 1, None):
                member = wanted.pop(info.name, None)
                if member is None:
                    raise _changed(place, f"it contains {info.name!r}, which its manifest does not list")
                if not info.isreg() or info.issparse() or info.size != member.size:
                    raise _changed(place, f"{info.name} is not the file that its manifest lists")
                _unpack(archive, info, member, into, place)
    except tarfile.TarError as error:
        raise _changed(place, f"it is not whole ({error})") from error
    except OSError as error:
        if error.filename not in (str(place), place):
            raise
        raise Refusal("invalid_input", f"The backup {place} cannot be read: {error.strerror}.", field="FILE") from error
    if wanted:
        raise _changed(place, f"{min(wanted)} is missing")
    return manifest


def _manifest(archive: tarfile.TarFile, place: Path) -> Manifest:
    first = archive.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _LARGEST_MANIFEST:
        raise _changed(place, "it does not begin with a manifest")
    content = archive.extractfile(first)
    data = b"" if content is None else content.read()
    try:
        mark = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("format")
        if mark is None or msgspec.json.decode(mark, type=int) > FORMAT:
            raise Refusal(
                "invalid_input",
                f"A newer Callboard made the backup {place}.",
                field="FILE",
                hint="Update Callboard, then restore it.",
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise _changed(place, f"its manifest cannot be read ({error})") from error
    paths = [member.path for member in manifest.members]
    unfit = next((path for path in paths if not _is_ours(path)), None)
    if unfit is not None:
        raise _changed(place, f"it lists {unfit!r}, which no backup contains")
    if LOG not in paths:
        raise _changed(place, f"{LOG} is missing")
    return manifest


def _is_ours(path: str) -> bool:
    """Return True for a path that a backup has: what is a file here is put in place as one, and a folder as a folder."""
    folder, _, name = path.partition("/")
    if folder == UPLOADS:
        return name not in {"", ".", ".."} and "/" not in name and name.isprintable()
    return path in {LOG, *FILES}


def _unpack(archive: tarfile.TarFile, info: tarfile.TarInfo, member: Member, into: Path, place: Path) -> None:
    content = archive.extractfile(info)
    path = into / member.path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    found, size = hashlib.sha256(), 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        while content is not None and (piece := content.read(_PIECE)):
            found.update(piece)
            size += len(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if (size, found.hexdigest()) != (member.size, member.sha256):
        raise _changed(place, f"{member.path} is not what was backed up")


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    return info


def _changed(place: Path, why: str) -> Refusal:
    return Refusal(
        "invalid_input",
        f"The file {place} cannot be restored: {why}.",
        field="FILE",
        hint="Use another backup, or copy this one again from where it was made.",
    )
