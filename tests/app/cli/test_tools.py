from __future__ import annotations

import json
import sys

from tests.app.rigs.product import Product
from tests.tools.mcp.servers import SCRIPTED


def test_the_tools_of_a_folder_are_listed_with_their_servers(product: Product) -> None:
    command = json.dumps([sys.executable, "-I", "-S", SCRIPTED, str(product.folder / "calls")])
    product.home.mkdir()
    (product.home / "settings.toml").write_text(
        f'[[servers]]\nname = "scripted"\ntransport = "stdio"\ncommand = {command}\n'
        '[[servers]]\nname = "gone"\ntransport = "stdio"\ncommand = ["no-such-program"]\n'
    )
    done = product.run("tools")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert done.code == 1
    assert "server gone disconnected Its program no-such-program was not found." in lines
    brought = [line for line in lines if " mcp__scripted__" in line]
    assert f"server scripted connected Scripted 1.0: {len(brought)} tools" in lines
    assert "loaded mcp__scripted__echo reads, parallel" in lines
    assert "loaded mcp__scripted__wipe may delete, serial" in lines
    assert "excluded Finalize It is available in auto mode only." in lines
    (inventory,) = product.run("tools", "--json").json
    assert [server["condition"] for server in inventory["servers"]] == ["connected", "lost"]


def test_an_unknown_agent_is_refused_by_name(product: Product) -> None:
    done = product.run("tools", "--agent", "ghost")
    assert (done.code != 0, "ghost" in done.err) == (True, True)
