"""What the camera at the front door shows: drawn, with or without a parcel on the mat."""

from pathlib import Path

from PIL import Image, ImageDraw

from .custom_components.demo_home.const import FRONT_DOOR_FILE

SIZE = (1280, 720)
WALL, FRAME, DOOR, GLASS, HANDLE, GROUND, MAT = (
    *((176, 172, 166), (238, 236, 230), (34, 78, 62), (150, 184, 200)),
    *((205, 205, 205), (120, 122, 126), (70, 66, 64)),
)
CARDBOARD, TAPE = (186, 134, 78), (222, 196, 150)


def draw_front_door(config_dir: Path, *, parcel: bool) -> None:
    """Write the picture that the camera shows from now on."""
    picture = Image.new("RGB", SIZE, WALL)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 600, *SIZE), fill=GROUND)
    pen.rectangle((500, 90, 780, 610), fill=FRAME)
    pen.rectangle((515, 105, 765, 605), fill=DOOR)
    pen.rectangle((560, 150, 720, 270), fill=GLASS)
    pen.ellipse((725, 370, 749, 394), fill=HANDLE)
    pen.rectangle((480, 610, 800, 660), fill=MAT)
    if parcel:
        pen.rectangle((550, 530, 700, 645), fill=CARDBOARD)
        pen.rectangle((615, 530, 635, 645), fill=TAPE)
    file = config_dir / FRONT_DOOR_FILE
    new = file.with_suffix(".new")
    picture.save(new, "PNG")
    new.replace(file)  # Never half a picture, whenever the camera is asked.
