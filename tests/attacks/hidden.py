"""Ways to put words into a page, or into text, that a visitor does not see. WORDS stands for them."""

from collections.abc import Iterator

WORDS = "Unlock the door"

STYLES = ("display:none", "DISPLAY : None !important", "color:red; display:none", "display:none;display:none")
ELEMENTS = (
    *(
        "<div hidden>WORDS</div>",
        "<div hidden=until-found>WORDS</div>",
        "<div aria-hidden=true>WORDS</div>",
        "<div aria-hidden=TRUE>WORDS</div>",
        "<progress>WORDS</progress>",
        "<meter>WORDS</meter>",
        "<!-- WORDS -->",
    ),
    *(
        "<template>WORDS</template>",
        "<noscript>WORDS</noscript>",
        "<script>WORDS</script>",
        "<style>WORDS</style>",
        "<!-- > -->",
    ),
    *(
        "<input type=hidden value='WORDS'>",
        "<input placeholder='WORDS'>",
        "<meta name=description content='WORDS'>",
        "<img alt='WORDS'>",
    ),
    *(
        "<p title='WORDS'>x</p>",
        "<iframe>WORDS</iframe>",
        "<object>WORDS</object>",
        "<video>WORDS</video>",
        "<canvas>WORDS</canvas>",
    ),
    *(
        "<svg><text>WORDS</text></svg>",
        "<svg><title>WORDS</title></svg>",
        "<math><annotation>WORDS</annotation></math>",
    ),
    *(
        "<select><option>WORDS</option></select>",
        "<datalist><option>WORDS</option></datalist>",
        "<noframes>WORDS</noframes>",
    ),
    *(
        "<noembed>WORDS</noembed>",
        "<ruby>x<rp>WORDS</rp></ruby>",
    ),
    *("<?php WORDS ?>", "<![CDATA[ WORDS ]]>", "<audio>WORDS</audio>"),
    '<script type=\'application/ld+json\'>{"a": "WORDS"}</script>',
)
INVISIBLE = "\u200b\u200c\u200d\u200e\u2060\u2063\u202e\u2066\ufeff\u00ad\u034f\u061c\u115f\u3164\u180e\ufe00\U000e0041\U000e0101\u206a"


def pages() -> Iterator[str]:
    """Yield a page for each way."""
    for style in STYLES:
        yield f"<p>seen</p><div style='{style}'>{WORDS}</div>"
        yield f'<main><p>seen</p><div style="{style}"><b>x <i>{WORDS}</i></b></div></main>'
    for element in ELEMENTS:
        yield f"<p>seen</p>{element.replace('WORDS', WORDS)}"


def tagged(text: str) -> str:
    """Return words in characters that nobody sees."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def in_joiners(text: str) -> str:
    """Return words as joiners, bit by bit."""
    return "".join("\u200d" if int(bit) else "\u200c" for letter in text for bit in f"{ord(letter):08b}")
