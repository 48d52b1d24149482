"""`make check` rejects large modules and folders, vague names and avoided words."""

from pathlib import Path

import pytest

from scripts import check_style

LINE = "x = 1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree with one module of each layer and no breach."""
    for name in ("src/callboard/queue.py", "src/callboard/control/decide.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('"""The queue of a thread."""\n\n' + LINE * 50)
    (tmp_path / "web/src/system/i18n/en").mkdir(parents=True)
    (tmp_path / "web/src/system/i18n/en/turn.ts").write_text('export const turn = { stop: "Stop the turn" };\n')
    return tmp_path


def breaches(tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the printed lines, which must agree with the exit code."""
    monkeypatch.setattr("sys.argv", ["check_style.py", str(tree)])
    code = check_style.main()
    printed = capsys.readouterr().out.splitlines()
    assert code == (1 if printed else 0)
    return printed


def test_a_tree_without_breaches_passes(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: the check prints nothing and succeeds."""
    assert breaches(tree, capsys, monkeypatch) == []


@pytest.mark.parametrize(
    ("name", "text", "breach"),
    [
        ("large.py", LINE * 401, "src/callboard/large.py: 401 lines. Split it: 400 is the most."),
        (
            "small.py",
            LINE * 29,
            "src/callboard/small.py: 29 lines. Merge it, or give the reason in scripts/check_style.py.",
        ),
        ("names.py", LINE * 50 + "found = 1\n", "src/callboard/names.py:51: `found` does not say what it is."),
        (
            "arguments.py",
            LINE * 50 + "def read(*, one: str): ...\n",
            "src/callboard/arguments.py:51: `one` does not say what it is.",
        ),
        (
            "methods.py",
            LINE * 50 + "class Told: ...\n",
            "src/callboard/methods.py:51: `Told` does not say what it is.",
        ),
        (
            "strings.py",
            LINE * 50 + 'text = "Nobody answered."\n',
            "src/callboard/strings.py:51: avoid “Nobody”.",
        ),
        ("comments.py", LINE * 50 + "# It stands here.\n", "src/callboard/comments.py:51: avoid “stands”."),
        (
            "docstrings.py",
            '"""What the person\nwas told."""\n' + LINE * 50,
            "src/callboard/docstrings.py:1: avoid “told”.",
        ),
        (
            "errors.py",
            LINE * 50 + 'raise Refusal("unknown_task", f"There is no task {x}.", field="taskId")\n',
            "src/callboard/errors.py:51: `Refusal` has no hint with the next step.",
        ),
        (
            "problems.py",
            LINE * 50 + 'problem = Problem(code="gap", message="The fact is missing.")\n',
            "src/callboard/problems.py:51: `Problem` has no hint with the next step.",
        ),
    ],
)
def test_a_breach_is_reported_with_its_place(
    name: str,
    text: str,
    breach: str,
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    """X11: each rule of sizes, names and words sees its breach, and nothing else is reported."""
    (tree / "src/callboard" / name).write_text(text)

    assert breaches(tree, capsys, monkeypatch) == [breach]


@pytest.mark.parametrize("folder", ["tests/control", "bench/rows", "scripts"])
def test_names_and_words_are_checked_outside_the_package(
    folder: str, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: tests, benchmarks and scripts follow the same rules of names and words, and may be short."""
    (tree / folder).mkdir(parents=True)
    (tree / folder / "queue.py").write_text('"""What the person was told."""\n\nimport os as kept\n\nkept.asked = 1\n')

    assert breaches(tree, capsys, monkeypatch) == [
        f"{folder}/queue.py:3: `kept` does not say what it is.",
        f"{folder}/queue.py:5: `asked` does not say what it is.",
        f"{folder}/queue.py:1: avoid “told”.",
    ]


@pytest.mark.parametrize(("folder", "most"), [("bench", 400), ("scripts", 400), ("tests/control", 550)])
def test_sizes_are_checked_outside_the_package(
    folder: str, most: int, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a test may be longer than other modules."""
    (tree / folder).mkdir(parents=True)
    (tree / folder / "queue.py").write_text(LINE * (most + 1))
    for number in range(20):
        (tree / folder / f"part_{number}.py").write_text(LINE)

    assert breaches(tree, capsys, monkeypatch) == [
        f"{folder}/queue.py: {most + 1} lines. Split it: {most} is the most.",
        f"{folder}: 21 files. Split the folder: 20 is the most.",
    ]


@pytest.mark.parametrize(("name", "word"), [("test_given.py", "given"), ("calling.py", "calling")])
def test_a_vague_module_name_is_a_breach(
    name: str, word: str, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a file name says what the module contains."""
    (tree / "tests").mkdir()
    (tree / "tests" / name).write_text(LINE)

    assert breaches(tree, capsys, monkeypatch) == [
        f"tests/{name}: “{word}” in the name does not say what the module contains."
    ]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("README.md", "# Runs\n\n```\nnobody\n```\n\nNobody named `told` reads it.\n", 7),
        ("docs/turns.md", "# Turns\n\nNobody reads them.\n", 3),
        ("Makefile", "run:  ## run it\n\techo nobody\n# Nobody runs this.\n", 3),
        ("tests/prove/preload.c", 'char *word = "nobody";\n/* Nobody\n * calls it. */\n', 2),
    ],
)
def test_documents_and_comments_of_other_files_are_checked(
    name: str,
    text: str,
    line: int,
    tree: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    """X11: code in a document and strings of a program are no prose."""
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)

    assert breaches(tree, capsys, monkeypatch) == [f"{name}:{line}: avoid “Nobody”."]


def test_inputs_of_tests_and_values_that_are_none_may_have_avoided_words(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a test quotes what people and programs write."""
    (tree / "tests").mkdir()
    (tree / "tests" / "queue.py").write_text('text = "Nobody told me."\n# None if it is None or there is none.\n')

    assert breaches(tree, capsys, monkeypatch) == []


def test_a_folder_with_too_many_files_is_reported(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a reader can see the structure of a folder."""
    for number in range(20):
        (tree / f"src/callboard/control/part_{number}.py").write_text(LINE * 50)

    assert breaches(tree, capsys, monkeypatch) == ["src/callboard/control: 21 files. Split the folder: 20 is the most."]


def test_a_text_of_the_page_is_checked(tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """X11: the page's English texts follow the same list of words, with some more."""
    (tree / "web/src/system/i18n/en/turn.ts").write_text(
        'export const turn = {\n  \'turn.told\': "Mend the turn",\n  stop: "Stop whatever runs",\n};\n'
    )

    assert breaches(tree, capsys, monkeypatch) == [
        "web/src/system/i18n/en/turn.ts:2: avoid “Mend”.",
        "web/src/system/i18n/en/turn.ts:3: avoid “whatever”.",
    ]


def test_demo_projects_and_initialisers_are_not_measured(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: a demo project is data, and an `__init__.py` may be one line."""
    (tree / "src/callboard/plays").mkdir()
    (tree / "src/callboard/plays/agent.py").write_text("told = 1\n")
    (tree / "src/callboard/__init__.py").write_text('"""The package."""\n')

    assert breaches(tree, capsys, monkeypatch) == []


def test_a_wire_name_of_a_field_is_not_a_breach(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: wire names do not change. A variable with the same name is a breach."""
    (tree / "src/callboard/contracts").mkdir()
    text = LINE * 50 + "class Quote:\n    said: str\n\n    def read(self): said = 1\n"
    (tree / "src/callboard/contracts/quote.py").write_text(text)

    assert breaches(tree, capsys, monkeypatch) == [
        "src/callboard/contracts/quote.py:54: `said` does not say what it is."
    ]


@pytest.mark.parametrize(
    "error", ['Refusal("gap", "The fact is missing.", hint="Read it again.")', "Refusal(code, problem.message)"]
)
def test_an_error_with_a_hint_or_with_the_message_of_another_is_not_a_breach(
    error: str, tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    """X11: an error says what to do next. One that repeats a message adds nothing to it."""
    (tree / "src/callboard/errors.py").write_text(LINE * 50 + f"raise {error}\n")

    assert breaches(tree, capsys, monkeypatch) == []
