"""Plots of rows as SVG files."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .results import Plot


def draw(plots: Iterable[Plot], folder: Path) -> bool:
    """Draw the plots into the folder; return False without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("svg")
    import matplotlib.pyplot as plt

    # Equal figures give equal bytes.
    settings: dict[Any, Any] = {"svg.hashsalt": "callboard", "svg.fonttype": "none", "font.size": 9}
    folder.mkdir(exist_ok=True)
    with mpl.rc_context(settings):
        for plot in plots:
            figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
            for label, points in plot.lines.items():
                ours = label.startswith("Callboard")
                axes.plot(*zip(*points, strict=True), label=label, linewidth=2.2 if ours else 1.2)
            if plot.log_x:
                axes.set_xscale("log")
            if plot.log_y:
                axes.set_yscale("log")
            axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
            axes.grid(visible=True, alpha=0.25)
            axes.legend(frameon=False)
            figure.savefig(folder / f"{plot.name}.svg", metadata={"Date": None})
            plt.close(figure)
    return True
