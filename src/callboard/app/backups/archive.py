"""Backup archive: a tar file whose first member lists the others with their hashes."""

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
#: Version of the archive. Newer versions are refused.
FORMAT = 1
#: Maximum size of a manifest, in bytes.
_MAX_MANIFEST_BYTES = 16 * 1024 * 1024
_CHUNK = 1 << 20


class Member(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file by its path in the state folder. `sha256` is in hex, `size` in bytes."""

    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of a backup. `made_at` is in microseconds since the epoch; `damages` counts damaged parts of the store."""

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
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Member(path=name, size=size, sha256=digest.hexdigest())


def write(target: Path, folder: Path, manifest: Manifest) -> None:
    """Write an archive of members in a folder. The file appears under its name only when complete. Raises OSError."""
    part = folder / f".{os.getpid()}.part"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
                data = msgspec.json.format(msgspec.json.encode(manifest))
                archive.addfile(_build_info(MANIFEST, len(data)), io.BytesIO(data))
                for member in manifest.members:
                    with (folder / member.path).open("rb") as content:
                        archive.addfile(_build_info(member.path, member.size), content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def unpack(file: Path, into: Path) -> Manifest:
    """Unpack an archive into a folder and check each file against the manifest.

    Raises:
        Refusal: `invalid_input` if the file is not a backup, has a newer version, or was changed.
        OSError: The files cannot be written.
    """
    try:
        with file.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            manifest = _read_manifest(archive, file)
            missing = {member.path: member for member in manifest.members}
            for info in islice(archive, 1, None):
                member = missing.pop(info.name, None)
                if member is None:
                    raise _build_refusal(file, f"it contains {info.name!r}, which its manifest does not list")
                if not info.isreg() or info.issparse() or info.size != member.size:
                    raise _build_refusal(file, f"{info.name} differs from its manifest")
                _unpack(archive, info, member, into, file)
    except tarfile.TarError as error:
        raise _build_refusal(file, f"it is incomplete or damaged ({error})") from error
    except OSError as error:
        if error.filename not in (str(file), file):
            raise
        raise Refusal(
            "invalid_input",
            f"The backup {file} cannot be read: {error.strerror}.",
            field="FILE",
            hint="Check its permissions, or use another backup.",
        ) from error
    if missing:
        raise _build_refusal(file, f"{min(missing)} is missing")
    return manifest


def _read_manifest(archive: tarfile.TarFile, file: Path) -> Manifest:
    info = archive.next()
    if info is None or info.name != MANIFEST or not info.isreg() or info.size > _MAX_MANIFEST_BYTES:
        raise _build_refusal(file, "it does not begin with a manifest")
    content = archive.extractfile(info)
    data = b"" if content is None else content.read()
    try:
        version = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("format")
        if version is None or msgspec.json.decode(version, type=int) > FORMAT:
            raise Refusal(
                "invalid_input",
                f"A newer Callboard made the backup {file}.",
                field="FILE",
                hint="Update Callboard, then restore it.",
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise _build_refusal(file, f"its manifest cannot be read ({error})") from error
    paths = [member.path for member in manifest.members]
    unexpected = next((path for path in paths if not _is_expected(path)), None)
    if unexpected is not None:
        raise _build_refusal(file, f"it lists {unexpected!r}, which no backup contains")
    if LOG not in paths:
        raise _build_refusal(file, f"{LOG} is missing")
    return manifest


def _is_expected(path: str) -> bool:
    """Return True for a path that a backup may contain."""
    folder, _, name = path.partition("/")
    if folder == UPLOADS:
        return name not in {"", ".", ".."} and "/" not in name and name.isprintable()
    return path in {LOG, *FILES}


def _unpack(archive: tarfile.TarFile, info: tarfile.TarInfo, member: Member, into: Path, backup: Path) -> None:
    content = archive.extractfile(info)
    path = into / member.path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        while content is not None and (chunk := content.read(_CHUNK)):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    if (size, digest.hexdigest()) != (member.size, member.sha256):
        raise _build_refusal(backup, f"{member.path} differs from its manifest")


def _build_info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    return info


def _build_refusal(file: Path, reason: str) -> Refusal:
    return Refusal(
        "invalid_input",
        f"The file {file} cannot be restored: {reason}.",
        field="FILE",
        hint="Use another backup, or copy this one again from its origin.",
    )
