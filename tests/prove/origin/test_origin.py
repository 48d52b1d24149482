"""No other page, listener, command line or user obtains a credential that the API accepts."""

from __future__ import annotations

import pytest

from tests.prove.origin import proof

#: A real process and a real browser, on a machine that is busy with other tests.
pytestmark = pytest.mark.timeout(300)


async def test_only_the_page_obtains_a_credential(capsys: pytest.CaptureFixture[str]) -> None:
    """X1, SAFE-04"""
    code = await proof.prove(0, "")
    output = capsys.readouterr().out
    assert code == 0, output


@pytest.mark.parametrize(
    ("fault", "claim"),
    [("cookie", proof.NOT_ACCEPTED), ("argv", proof.NO_COMMAND_LINE), ("any-origin", proof.REFUSED)],
)
async def test_the_proof_of_origins_fails_with_a_cookie_a_code_in_a_command_line_or_a_credential_of_any_origin(
    capsys: pytest.CaptureFixture[str], fault: str, claim: str
) -> None:
    """X1"""
    code = await proof.prove(0, fault)
    output = capsys.readouterr().out
    assert code == 1
    assert f"FAIL {claim}" in output, output
