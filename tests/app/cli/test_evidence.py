"""`callboard evidence` and `callboard verify`."""

from __future__ import annotations

import stat
import zipfile

from callboard.contracts.record import derive_span_id
from tests.app.rigs.product import Product, says, uses
from tests.prove import auditor

SPOKEN = {"calls": [uses("Write", "Now.", file_path="report.md", content="# R\n"), says("Written. " * 2000)]}


def test_a_written_pack_is_valid_for_the_product_and_an_auditor(product: Product):
    """SUB-04"""
    product.plays(SPOKEN).run("run", "Write", "--approve", "all")
    session = product.run("sessions", "--json").json[0]["sessionId"]
    facts = product.run("facts", "last", "--json").json

    done = product.run("evidence", "last", "--reason", "the audit")

    name = f"evidence-{session}-{len(facts)}.zip"
    file = product.folder / name
    link = done.err.splitlines()[1].removeprefix("link ")
    assert (done.code, done.out) == (0, f"{name}\n")
    assert done.err.splitlines()[0] == f"Facts 1 to {len(facts)}; {file.stat().st_size:,} bytes."
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert auditor.problems(file.read_bytes()) == []
    assert [line["type"] for line in auditor.rows_of(file.read_bytes())] == [fact["type"] for fact in facts]
    checked = product.run("verify", name, "--link", link)
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.splitlines()[0] == f"valid  facts 1 to {len(facts)} of {session}"
    last = product.run("facts", "last", "--json").json[-1]
    assert (last["type"], last["payload"]["link"], last["payload"]["reason"]) == (
        "evidence.exported",
        link,
        "the audit",
    )


def test_the_running_process_exports_the_pack(product: Product):
    """UI-34"""
    product.plays(SPOKEN)
    with product.up():
        product.run("run", "Write", "--approve", "all")
        done = product.run("evidence", "last", "--out", "pack.zip", "--json")
        (written,) = done.json
        assert done.code == 0
        assert (written["file"], written["facts"], written["taskId"]) == ("pack.zip", written["through"], "")
        (verdict,) = product.run("verify", "pack.zip", "--json").json
    assert (verdict["ok"], verdict["link"], verdict["packHash"]) == (True, written["link"], written["pack"]["hash"])


def test_an_existing_file_is_replaced_only_with_force(product: Product):
    product.plays(SPOKEN).run("run", "Write", "--approve", "all")
    mine = product.folder / "mine.zip"
    mine.write_text("mine")

    refused = product.run("evidence", "last", "--out", "mine.zip")
    assert (refused.code, mine.read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert "evidence.exported" not in product.run("facts", "last").out

    assert product.run("evidence", "last", "--out", "mine.zip", "--force").code == 0
    assert zipfile.is_zipfile(mine)
    assert [path.name for path in product.folder.glob(".*.part")] == []


def test_the_finding_in_a_pack_names_the_fact(product: Product):
    product.plays(SPOKEN).run("run", "Write", "--approve", "all")
    product.run("evidence", "last", "--out", "pack.zip")
    pack = product.folder / "pack.zip"
    with zipfile.ZipFile(pack) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    changed = product.folder / "changed.zip"
    with zipfile.ZipFile(changed, "w") as opened:
        for name, data in files.items():
            opened.writestr(name, data.replace(b"report.md", b"rapport.m"))

    done = product.run("verify", "changed.zip")
    assert done.code == 1
    assert done.out.startswith("invalid  fact ")
    (verdict,) = product.run("verify", "changed.zip", "--json").json
    assert (verdict["ok"], verdict["finding"]["check"]) == (False, "fact")
    at = verdict["finding"]["sequence"]
    assert f"fact {at}:" in done.out
    assert "report.md" in auditor.rows_of(pack.read_bytes())[at - 1]["payload"]
    assert product.run("verify", "pack.zip", "--link", derive_span_id("another") * 4).code == 1


def test_a_refused_export_or_check_says_why(product: Product):
    assert product.run("evidence", "last").code == 2
    product.plays(SPOKEN).run("run", "Write", "--approve", "all")
    (product.folder / "text.zip").write_text("no pack")
    results = {
        arguments: product.run(*arguments)
        for arguments in (
            ("evidence", "ses_none"),
            ("evidence", "last", "--task", "tsk_none"),
            ("evidence", "last", "--out", "none/pack.zip"),
            ("evidence", "last", "--out", "."),
            ("verify", "none.zip"),
            ("verify", "text.zip"),
        )
    }
    assert [result.code for result in results.values()] == [2, 2, 2, 2, 2, 1]
    assert [result.err.partition(":")[0] for result in results.values()] == [
        "unknown_session",
        "unknown_task",
        *["invalid_input"] * 3,
        "",
    ]
    assert "evidence.exported" not in product.run("facts", "last").out
