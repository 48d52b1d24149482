"""Flame graph of sampled stacks, as a page without other files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import PurePath

from bench.rigs.processes import ROOT

#: Share of the whole below which a box is not drawn.
_SMALLEST = 0.001
_LEGEND = {
    "runtime": "#e8a33d",
    "control": "#e06c4f",
    "log": "#6ea8dc",
    "secrets": "#b48ade",
    "tools": "#7fb069",
    "other modules of Callboard": "#d9c36a",
    "Python and libraries": "#b9b9b9",
    "the bench": "#dddddd",
}
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Where the time of a turn goes</title>
<style>
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff; max-width: 110em }}
p {{ max-width: 60em }}
li {{ display: inline-block; margin-right: 1.2em }} ul {{ padding: 0 }}
li b {{ display: inline-block; width: 1em; height: 1em; margin-right: .3em; vertical-align: -.15em }}
#graph {{ position: relative; height: {height}px }}
#graph div {{ position: absolute; box-sizing: border-box; height: 18px; border: 1px solid #fff; padding: 0 3px;
  font-size: 11px; line-height: 16px; white-space: nowrap; overflow: hidden; cursor: pointer }}
</style>
<h1>Where the time of a turn goes</h1>
<p>A turn of a new session took {busy:.2f} ms in the thread of the event loop, and {waiting:.2f} ms passed while the loop
waited for its disk and for other threads. The mean of {turns} turns without garbage collections, by samples of their
stacks; sampling makes turns slower.</p>
<p>Each box is a function. Its width is its share of the {busy:.2f} ms, with all functions that it calls; these are the boxes
below it. Boxes side by side are sorted by width, not by time. Point at a box for its file and milliseconds. Click a box to
enlarge it, and the first box to see all.</p>
<ul>{legend}</ul>
<div id="graph">{boxes}</div>
<script>
const boxes = [...document.querySelectorAll('#graph div')].map(
  (box) => ({{ box, start: +box.dataset.start, width: +box.dataset.width }}))
const show = (start, width) => {{
  for (const item of boxes) {{
    const left = Math.max(0, (item.start - start) / width)
    const right = Math.min(1, (item.start + item.width - start) / width)
    item.box.style.display = right - left > 0.0005 ? '' : 'none'
    item.box.style.left = `${{100 * left}}%`
    item.box.style.width = `${{100 * (right - left)}}%`
  }}
}}
for (const item of boxes) item.box.addEventListener('click', () => show(item.start, item.width))
show(0, 1)
</script></html>
"""


@dataclass
class Frame:
    """A function and the functions that it called, with seconds."""

    name: str
    path: str
    seconds: float = 0.0
    calls: dict[tuple[str, str], Frame] = field(default_factory=dict[tuple[str, str], "Frame"])


#: A sampled stack from the outermost function, as names and paths, with the seconds until the next sample.
Sample = tuple[Sequence[tuple[str, str]], float]


def merge(samples: Iterable[Sample]) -> tuple[Frame, float]:
    """Return the work of the event loop as one tree, and the seconds in which the loop waited."""
    root, waiting = Frame("event loop", "asyncio"), 0.0
    for stack, seconds in samples:
        # Of the loop itself, only waiting is of interest.
        if any(name.endswith("select") for name, _ in stack):
            waiting += seconds
            continue
        entered = [at for at, (name, path) in enumerate(stack) if name.endswith("_run") and "asyncio" in path]
        frame = root
        frame.seconds += seconds
        for name, path in stack[entered[-1] + 1 :] if entered else ():
            frame = frame.calls.setdefault((name, path), Frame(name, path))
            frame.seconds += seconds
    return root, waiting


def page(samples: Iterable[Sample], turns: int) -> str:
    """Return the page. Raises ValueError without a sample of work."""
    root, waiting = merge(samples)
    if not root.seconds:
        raise ValueError("no work was sampled: run more turns")
    boxes = list(_boxes(root, root, 0.0, 0, turns))
    legend = "".join(f'<li><b style="background:{colour}"></b>{label}</li>' for label, colour in _LEGEND.items())
    return _PAGE.format(
        height=18 * (1 + max(depth for depth, _ in boxes)),
        busy=1000 * root.seconds / turns,
        waiting=1000 * waiting / turns,
        turns=turns,
        legend=legend,
        boxes="".join(box for _, box in boxes),
    )


def decode(records: Iterable[tuple[Sequence[str], float]]) -> Iterator[Sample]:
    """Yield pyinstrument's samples. A function is its name, path and line, then marked attributes such as its class."""
    for stack, seconds in records:
        frames: list[tuple[str, str]] = []
        for function in stack:
            head, *attributes = function.split("\x01")
            name, path, _ = head.split("\x00")
            owner = next((f"{mark[1:]}." for mark in attributes if mark.startswith("c")), "")
            frames.append((f"{owner}{name}", _shorten(path)))
        yield frames, seconds


def _shorten(path: str) -> str:
    """Return a path without the folders above the package."""
    for folder in ("/site-packages/", "/src/", f"{ROOT}/", "/lib/"):
        path = path.rpartition(folder)[2]
    return path


def _boxes(frame: Frame, root: Frame, start: float, depth: int, turns: int) -> Iterator[tuple[int, str]]:
    """Yield the depth and the box of a function, and of the functions that it calls."""
    share = frame.seconds / root.seconds
    if share < _SMALLEST:
        return
    text = f"{frame.name}, {frame.path}: {1000 * frame.seconds / turns:.3f} ms, {share:.1%}"
    style = f"top:{18 * depth}px;background:{_LEGEND[_layer(frame.path)]}"
    place = f'data-start="{start:.5f}" data-width="{share:.5f}"'
    yield depth, f'<div {place} title="{escape(text)}" style="{style}">{escape(frame.name)}</div>'
    for call in sorted(frame.calls.values(), key=lambda call: -call.seconds):
        yield from _boxes(call, root, start, depth + 1, turns)
        start += call.seconds / root.seconds


def _layer(path: str) -> str:
    """Return the entry of the legend for a file."""
    parts = PurePath(path).parts
    if "bench" in parts:
        return "the bench"
    if "callboard" not in parts:
        return "Python and libraries"
    layer = parts[parts.index("callboard") + 1]
    return layer if layer in _LEGEND else "other modules of Callboard"
