"""A picture made small: as much as a model reads, and nothing that goes along with a file."""

import base64
from dataclasses import dataclass
from io import BytesIO
from math import ceil, sqrt
from typing import Final

from PIL import ExifTags, Image

# https://platform.claude.com/docs/en/build-with-claude/vision: a picture costs a token for every 28 by 28 pixels, and what is
# larger than this is made smaller before most models see it; newer ones take more, at up to three times the price.
MAX_SIDE: Final = 1_568
MAX_TOKENS: Final = 1_568
_PATCH: Final = 28
FEW: Final = 4
"""Pictures of one look that are as large as models read them; of more, each has less than half of the room."""
MANY_TOKENS: Final = 680
"""Just below half of the sides of 1920 by 1080, so that only a quarter of such a picture is decoded."""

MAX_FILE: Final = 20_000_000
"""Bytes of a picture that is opened: many times what cameras send."""
MAX_PIXELS: Final = 25_000_000
"""Pixels of a picture that is opened, which take up to four bytes each: three times those of a camera with 4K."""
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
_TURNS: Final = dict(
    enumerate(
        (
            *(Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180, Image.Transpose.FLIP_TOP_BOTTOM),
            *(Image.Transpose.TRANSPOSE, Image.Transpose.ROTATE_270, Image.Transpose.TRANSVERSE),
            Image.Transpose.ROTATE_90,
        ),
        start=2,
    )
)
"""What sets a picture upright, by how the file says that the camera was held."""
_QUALITY: Final = 85
MEDIA_TYPE: Final = "image/jpeg"


class UnreadablePictureError(Exception):
    """What a camera gave is no picture that can be read; the message says why, and continues a sentence about the camera."""


@dataclass(frozen=True, slots=True)
class FittedPicture:
    """A picture as it is sent."""

    data: str
    """A JPEG file in base64."""
    width: int
    height: int

    @property
    def tokens(self) -> int:
        """Return the tokens of it."""
        return tokens_of(self.width, self.height)


def tokens_of(width: int, height: int) -> int:
    """Return the tokens of a picture of so many pixels."""
    return ceil(width / _PATCH) * ceil(height / _PATCH)


def most_tokens(count: int) -> int:
    """Return the tokens that each of so many pictures may have."""
    return MAX_TOKENS if count <= FEW else MANY_TOKENS


def fitted_size(width: int, height: int, most: int = MAX_TOKENS) -> tuple[int, int]:
    """Return the largest size of a picture, not above its own, that a model reads as it is for so many tokens."""
    scale = min(1, MAX_SIDE / max(width, height), sqrt(most * _PATCH**2 / (width * height)))
    while True:
        size = max(1, int(width * scale)), max(1, int(height * scale))
        if tokens_of(*size) <= most:
            return size
        scale *= 0.99


def fit(content: bytes, most: int = MAX_TOKENS) -> FittedPicture:
    """Return a picture upright, small and without what the file tells beside it, such as a place; for an executor.

    Raises UnreadablePictureError for whatever is no picture, or more of one than is opened. Of what moves, the first picture counts.
    """
    if len(content) > MAX_FILE:
        raise UnreadablePictureError(f"gave a file of more than {MAX_FILE // 1_000_000} MB, which is not opened")
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as image:
            return _fitted(image, most)
    except UnreadablePictureError:
        raise
    except Exception as err:  # What a broken or hostile file makes a decoder raise stands in no list.
        if b"<svg" in content[:1_000].lower():
            raise UnreadablePictureError("gave a drawing (SVG), which cannot be looked at") from err
        raise UnreadablePictureError("gave something that is no whole picture") from err


def _fitted(image: Image.Image, most: int) -> FittedPicture:
    """Return an opened picture as it is sent."""
    if image.width * image.height > MAX_PIXELS:
        raise UnreadablePictureError(f"gave a picture of {image.width} by {image.height}, which is not opened")
    turn = _TURNS.get(image.getexif().get(ExifTags.Base.Orientation, 1))
    small: Image.Image = image
    if image.mode.startswith("I"):
        # Sixteen bits of grey, as of thermal cameras: cut to eight, nearly all of it would be white.
        small = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif image.mode not in ("RGB", "L"):
        # What shines through is white, as on a page.
        clear = image.convert("RGBA")
        small = Image.new("RGB", clear.size, "white")
        small.paste(clear, mask=clear.getchannel("A"))
    # Of a JPEG, no more is decoded than is needed.
    small.thumbnail(fitted_size(*image.size, most), Image.Resampling.BILINEAR, reducing_gap=1.0)
    upright = small if turn is None else small.transpose(turn)
    upright.info = {}  # Comments would be written anew.
    file = BytesIO()
    upright.save(file, "JPEG", quality=_QUALITY)
    return FittedPicture(base64.b64encode(file.getbuffer()).decode("ascii"), upright.width, upright.height)
