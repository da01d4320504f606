"""Making pictures small, whatever a camera sends."""

import base64
from contextlib import suppress
from io import BytesIO
import struct
import zlib

from hypothesis import given, settings, strategies as st
from PIL import ExifTags, Image
import pytest

from custom_components.extended_assist.cameras import resize
from custom_components.extended_assist.cameras.resize import (
    MAX_SIDE,
    MAX_TOKENS,
    FittedPicture,
    UnreadablePictureError,
    fit,
    fitted_size,
    tokens_of,
)

from .scenes import drawn


def opened(picture: FittedPicture) -> Image.Image:
    """Return what is sent, as whoever gets it opens it."""
    return Image.open(BytesIO(base64.b64decode(picture.data)), formats=("JPEG",))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(1, 20_000), st.integers(1, 20_000), st.sampled_from([680, 1_568]))
def test_any_size_fits(width: int, height: int, most: int) -> None:
    """No side and no count is above its limit, nothing is made larger, and what fits stays as it is."""
    size = fitted_size(width, height, most)
    assert max(size) <= MAX_SIDE
    assert tokens_of(*size) <= most
    assert size[0] <= width
    assert size[1] <= height
    if max(width, height) <= MAX_SIDE and width * height <= most * 28**2 and tokens_of(width, height) <= most:
        assert size == (width, height)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP"])
def test_kinds(kind: str) -> None:
    """Each kind that cameras send becomes a JPEG."""
    picture = fit(drawn(kind=kind))
    assert opened(picture).size == (picture.width, picture.height) == (1280, 720)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGBA", "CMYK", "I;16", "F"])
def test_modes(mode: str) -> None:
    """Grey, with few colours, see-through or for print: what shines through is white."""
    data = BytesIO()
    Image.new("L", (60, 40), 255).convert(mode).save(
        data, "TIFF" if mode in ("F", "PA") else "PNG" if mode != "CMYK" else "JPEG"
    )
    if mode in ("F", "PA"):
        with pytest.raises(UnreadablePictureError):  # A kind that no camera sends.
            fit(data.getvalue())
        return
    assert opened(fit(data.getvalue())).size == (60, 40)
    clear = BytesIO()
    Image.new("RGBA", (40, 40), (0, 0, 0, 0)).save(clear, "PNG")
    assert opened(fit(clear.getvalue())).convert("L").getpixel((20, 20)) == 255


def test_sixteen_bits_of_grey() -> None:
    """What is dark stays dark, as on a thermal camera: cut to eight bits, nearly all would be white."""
    shades = b"".join(struct.pack("<H", column * 256) for _ in range(256) for column in range(256))
    data = BytesIO()
    Image.frombytes("I;16", (256, 256), shades).save(data, "PNG")
    seen = opened(fit(data.getvalue())).convert("L")
    assert [seen.getpixel((column, 128)) for column in (0, 64, 128, 255)] == pytest.approx([0, 64, 128, 255], abs=2)


def test_nothing_goes_along() -> None:
    """Place, time, device and comments of a file stay in the home; the picture is upright."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    exif[ExifTags.Base.Make] = "A phone of Anna"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (48.0, 12.0, 30.0)
    data = drawn(exif=exif, comment=b"Anna's garden")
    assert b"Anna" in data
    picture = fit(data)
    sent = base64.b64decode(picture.data)
    assert b"Anna" not in sent
    assert not opened(picture).getexif()
    assert not {"exif", "comment", "icc_profile", "xmp"} & opened(picture).info.keys()
    assert (picture.width, picture.height) == (720, 1280)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_upright(orientation: int) -> None:
    """A red corner at the top left is there again, however the camera was held."""
    picture = Image.new("RGB", (200, 100), "white")
    picture.paste("red", (0, 0, 50, 50))
    held = {
        1: (),
        2: (Image.Transpose.FLIP_LEFT_RIGHT,),
        3: (Image.Transpose.ROTATE_180,),
        4: (Image.Transpose.FLIP_TOP_BOTTOM,),
        5: (Image.Transpose.TRANSPOSE,),
        6: (Image.Transpose.ROTATE_90,),
        7: (Image.Transpose.TRANSVERSE,),
        8: (Image.Transpose.ROTATE_270,),
    }[orientation]
    for turn in held:
        picture = picture.transpose(turn)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    data = BytesIO()
    picture.save(data, "JPEG", exif=exif, quality=95)
    upright = opened(fit(data.getvalue())).convert("RGB").getchannel("G")
    assert upright.size == (200, 100)
    assert upright.crop((10, 10, 30, 30)).getextrema()[1] < 60
    assert upright.crop((170, 70, 190, 90)).getextrema()[0] > 200


def png_of(width: int, height: int) -> bytes:
    """Return a small file that claims to be a picture of so many pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    body = zlib.compress(b"\0" * 1_000_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no whole picture"),
        (b"<html>not found</html>", "no whole picture"),
        (b"<?xml version='1.0'?><SVG/>", "a drawing (SVG)"),
        (drawn()[:5_000], "no whole picture"),
        (drawn(kind="PNG")[:500], "no whole picture"),
        (png_of(6_000, 6_000), "which is not opened"),
        (png_of(100_000, 300), "which is not opened"),
        (png_of(30_000, 30_000), "no whole picture"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 500, "no whole picture"),
        (b"GIF89a" + b"\xff" * 500, "no whole picture"),
        (b"\xff\xd8" + b"\0" * (resize.MAX_FILE + 1), "more than 20 MB"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_what_is_no_picture(content: bytes, why: str) -> None:
    """Bombs, halves and other things are a sentence, told without opening more than is allowed."""
    with pytest.raises(UnreadablePictureError, match="gave ") as caught:
        fit(content)
    assert why in str(caught.value)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_any_damage(data: st.DataObject) -> None:
    """A file with some bytes changed is a picture or a sentence, never anything else."""
    content = bytearray(_SMALL[data.draw(st.sampled_from(sorted(_SMALL)))])
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(UnreadablePictureError):
        assert fit(bytes(content)).tokens <= MAX_TOKENS


_SMALL = {kind: drawn(size=(64, 48), kind=kind) for kind in ("JPEG", "PNG", "WEBP", "GIF", "BMP")}


def test_what_moves() -> None:
    """Of an animation, the first picture is seen."""
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue", "blue")]
    data = BytesIO()
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:])
    red, _, blue = opened(fit(data.getvalue())).convert("RGB").split()
    assert red.getextrema()[0] > 200
    assert blue.getextrema()[1] < 60
