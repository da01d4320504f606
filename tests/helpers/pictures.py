"""Small files that are what they say, for whoever attaches some."""

from io import BytesIO

from PIL import Image


def _image(kind: str) -> bytes:
    data = BytesIO()
    Image.new("RGB", (1, 1)).save(data, kind)
    return data.getvalue()


PNG = _image("PNG")
JPEG = _image("JPEG")
PDF = b"%PDF-1.4\n1 0 obj\n<< /Type /Page >>\nendobj\n%%EOF\n"
BY_SUFFIX = {".png": PNG, ".jpg": JPEG, ".pdf": PDF}
