"""Draws the page icon once: a petrol tile with a rising line, no font and no foreign picture. Run it by hand."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

SIZE, SCALE = 64, 8
PETROL, WHITE = (0, 112, 122, 255), (255, 255, 255, 255)
POINTS = ((14, 42), (25, 30), (36, 37), (50, 19))


def draw() -> Image.Image:
    """The icon, drawn large and shrunk so that its edges are smooth."""
    big = Image.new("RGBA", (SIZE * SCALE, SIZE * SCALE), (0, 0, 0, 0))
    pen = ImageDraw.Draw(big)
    pen.rounded_rectangle((0, 0, SIZE * SCALE - 1, SIZE * SCALE - 1), radius=14 * SCALE, fill=PETROL)
    line = [(x * SCALE, y * SCALE) for x, y in POINTS]
    pen.line(line, fill=WHITE, width=4 * SCALE, joint="curve")
    for x, y in line:
        pen.ellipse((x - 5 * SCALE, y - 5 * SCALE, x + 5 * SCALE, y + 5 * SCALE), fill=WHITE)
    return big.resize((SIZE, SIZE), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    draw().save(Path(__file__).with_name("icon.png"), optimize=True)
