"""The images, by the rules of Home Assistant's collection of brands."""

import colorsys
from pathlib import Path

from PIL import Image
import pytest

from homeassistant.components.brands.const import ALLOWED_IMAGES

from .files import CHECKOUT, INTEGRATION

IMAGES = sorted((INTEGRATION / "brand").iterdir())
MAX_BYTES = 100_000
"""Enough for a drawing of a few colours; they are in every download."""


def load(path: Path) -> Image.Image:
    """Return an image."""
    with Image.open(path) as image:
        image.load()
        return image


def test_all_are_there() -> None:
    """Each image that Home Assistant asks for is there, and nothing else."""
    assert {path.name for path in IMAGES} == ALLOWED_IMAGES
    for name in ("icon", "logo"):
        assert (CHECKOUT / "docs" / "brand" / f"{name}.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_image(path: Path) -> None:
    """An image is a small PNG file in RGB with transparency, trimmed, and of the size that its name promises."""
    image = load(path)
    assert (image.format, image.mode) == ("PNG", "RGBA")
    assert path.stat().st_size < MAX_BYTES
    density = 2 if "@2x" in path.name else 1
    if "icon" in path.name:
        assert image.size == (256 * density, 256 * density)
    else:
        assert image.width > image.height
        assert 128 * density <= image.height <= 256 * density
    assert image.getbbox(alpha_only=True) == (0, 0, *image.size)
    assert image.getpixel((0, 0)) == (0, 0, 0, 0)


@pytest.mark.parametrize("path", [path for path in IMAGES if "@2x" not in path.name], ids=lambda path: path.name)
def test_both_densities_show_the_same(path: Path) -> None:
    """The image for fine displays is twice as large."""
    fine = load(path.with_stem(f"{path.stem}@2x"))
    assert fine.size == tuple(2 * length for length in load(path).size)


@pytest.mark.parametrize(("prefix", "background"), [("", 1.0), ("dark_", 17 / 255)])
def test_legible(prefix: str, background: float) -> None:
    """The words of the logo stand out from the background that it is made for."""
    logo = load(INTEGRATION / "brand" / f"{prefix}logo.png")
    words = logo.crop((logo.width // 2, 0, *logo.size))
    colours = [pixel for _, pixel in words.getcolors(1 << 24) or [] if isinstance(pixel, tuple) and pixel[3] == 255]
    assert colours
    for red, green, blue, _ in colours:
        lightness = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)[1]
        assert abs(lightness - background) > 0.5
