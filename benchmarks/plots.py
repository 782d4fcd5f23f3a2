"""Plots for docs/inside/performance.md: lines over a straight scale, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 300, 70, 50, 40
COLOURS = ("#1f6feb", "#8c959f", "#d29922", "#2da44e")

Line = Sequence[tuple[float, float]]


def plot(file: Path, title: str, across: str, up: str, lines: Mapping[str, Line]) -> None:
    """Write a plot of some lines, each a sequence of points from zero up.

    Args:
        file: where to write it.
        title: what is above it.
        across: what the horizontal axis counts.
        up: what the vertical axis counts.
        lines: the points of each line, by its name.
    """
    most_across = max(x for line in lines.values() for x, _ in line)
    most_up = max(y for line in lines.values() for _, y in line)

    def place(x: float, y: float) -> tuple[float, float]:
        right, high = WIDTH - LEFT - 20, HEIGHT - BOTTOM - TOP
        return LEFT + right * x / most_across, HEIGHT - BOTTOM - high * y / most_up

    def text(x: float, y: float, words: str, anchor: str = "middle", fill: str = "#57606a") -> str:
        at = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
        return f'<text {at} fill="{fill}">{words}</text>'

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(WIDTH / 2, 18, title, fill="#24292f"),
        text(WIDTH / 2, HEIGHT - 8, across),
        text(LEFT, TOP - 8, up),
    ]
    for part in range(5):
        x, y = most_across * part / 4, most_up * part / 4
        (left, low), (right, _) = place(0, y), place(most_across, y)
        drawn.append(f'<path d="M{left:.1f} {low:.1f}H{right:.1f}" stroke="#d0d7de"/>')
        drawn.append(text(LEFT - 6, low + 4, f"{y:.3g}", "end"))
        drawn.append(text(place(x, 0)[0], HEIGHT - BOTTOM + 18, f"{x:,.4g}"))
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        stroke = f'stroke="{colour}" stroke-width="2"'
        drawn.append(f'<polyline points="{points}" fill="none" {stroke}/>')
        drawn.append(text(LEFT + 80 + 125 * number, TOP - 8, name, "start", colour))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*drawn, "</svg>\n"]), encoding="utf-8")
