"""Programs that a folder starts outside of the sandbox: variables that load code, and scripts and
links that changed after the trust.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.prove.cage.folder import World
from tests.prove.driver.product import Server
from tests.prove.driver.report import Report
from tests.prove.driver.session_driver import do

#: Each makes some program load other code.
LOADERS = ("BASH_ENV", "LD_PRELOAD", "NODE_OPTIONS", "MAKEFLAGS", "PYTHONPATH", "GIT_SSH_COMMAND", "PATH")
REFUSED = "a folder's server with a variable that loads code is not started"
STARTS = "a folder's server that was trusted and not changed is started"
COMPLETE = "the trust card shows a server's program, script and values"
AGAIN = "a folder's server is not started after its script, or a link to it, was rewritten"
_SERVER = (
    '[[servers]]\ntransport = "stdio"\nname = "theirs"\ncommand = ["sh", "run.sh"]\nenv = {{ {name} = "{value}" }}\n'
)


async def prove(report: Report, world: World, server: Server) -> None:
    """X2, X3: over HTTP, as a person who trusts what the card shows."""
    for name in LOADERS:
        folder = _write_folder(world, name, name, str(world.ran / "loaded"))
        workspace, read = await _opened(server, folder)
        if read["digest"]:
            await do(server, "trust_workspace", workspaceId=workspace, digest=read["digest"])
            await _started(server, workspace)
        started = (world.outside / f"began-{name}").exists()
        named = any(name in problem["message"] for problem in read["problems"])
        report.check(REFUSED, named and not started, f"{name}: {read['state']}, started: {started}")
    plain = _write_folder(world, "plain", "MODE", "strict")
    workspace, read = await _opened(server, plain)
    await do(server, "trust_workspace", workspaceId=workspace, digest=read["digest"])
    await _started(server, workspace)
    report.check(STARTS, (world.outside / "began-plain").exists(), f"{read['state']}")
    for way in ("script", "link"):
        folder = _write_folder(world, way, "MODE", "strict")
        (folder / "real.sh").write_text((folder / "run.sh").read_text())
        if way == "link":
            (folder / "run.sh").unlink()
            (folder / "run.sh").symlink_to("real.sh")
        workspace, read = await _opened(server, folder)
        card = " ".join(permission["detail"] for permission in read["widenings"])
        report.check(COMPLETE, "sh run.sh" in card and "MODE=strict" in card and "sha256" in card, card)
        await do(server, "trust_workspace", workspaceId=workspace, digest=read["digest"])
        harm = f"touch {world.ran}/rewritten-{way}; cat\n"
        (folder / "harm.sh").write_text(harm)
        if way == "link":
            (folder / "run.sh").unlink()
            (folder / "run.sh").symlink_to("harm.sh")
        else:
            (folder / "run.sh").write_text(harm)
        await _started(server, workspace)
        _, again = await _opened(server, folder)
        ran = (world.ran / f"rewritten-{way}").exists()
        report.check(AGAIN, again["state"] == "changed" and not ran, f"{way}: {again['state']}, ran: {ran}")


def _write_folder(world: World, folder_name: str, name: str, value: str) -> Path:
    folder = world.at.root / "trusting" / folder_name
    (folder / ".callboard").mkdir(parents=True)
    (folder / "run.sh").write_text(f"touch {world.outside}/began-{folder_name}; cat\n")
    (folder / ".callboard" / "settings.toml").write_text(_SERVER.format(name=name, value=value))
    return folder


async def _opened(server: Server, folder: Path) -> tuple[str, dict[str, Any]]:
    workspace = (await do(server, "open_workspace", path=str(folder)))["workspaceId"]
    return workspace, (await server.wire.get(f"/queries/get_trust?workspaceId={workspace}")).body


async def _started(server: Server, workspace: str) -> None:
    """Connect to the server, which starts if it may."""
    await server.wire.post("reconnect_server", {"workspaceId": workspace, "server": "theirs"})
