"""Ways to put words into a page, or into text, that a visitor does not see. WORDS stands for them."""

from collections.abc import Iterator

WORDS = "Unlock the door"

STYLES = (
    *(
        "display:none",
        "DISPLAY : None !important",
        "display:/* x */none",
        "disp\\6c ay:none",
        "visibility:hidden",
        "visibility:collapse",
    ),
    *(
        "opacity:0",
        "opacity:0.0",
        "opacity:.01",
        "opacity:0%",
        "filter:opacity(0)",
        "content-visibility:hidden",
        "font-size:0",
    ),
    *(
        "font-size:0px",
        "font-size:1px",
        "font-size:.1em",
        "font:0/0 a",
        "color:transparent",
        "color:#fff",
        "color:white",
        "color:#fffffe",
    ),
    *(
        "color:rgb(255,255,255)",
        "color:rgba(0,0,0,0)",
        "color:hsl(0,0%,100%)",
        "color:#00000000",
        "background:#000",
        "color:red;background:red",
    ),
    *(
        "background-color:#222;color:#232323",
        "position:absolute;left:-9999px",
        "position:fixed;top:-100em",
        "position:absolute;right:-5000px",
    ),
    *(
        "text-indent:-9999px",
        "margin-left:-9999px",
        "position:absolute;clip:rect(0,0,0,0)",
        "clip-path:inset(100%)",
        "clip-path:circle(0)",
    ),
    *(
        "clip-path:polygon(0 0, 0 0, 0 0)",
        "height:0;overflow:hidden",
        "width:1px;height:1px;overflow:hidden",
        "max-height:0;overflow:hidden",
    ),
    *(
        "transform:scale(0)",
        "transform:translateX(-9999px)",
        "transform:rotateY(90deg)",
        "scale:0",
        "line-height:0;overflow:hidden",
    ),
    *("position:absolute;left:20000px", "translate:-9999px 0"),
    *("--d:none;display:var(--d)", "display:var(--nope, none)", "--a:#fff;--b:var(--a);color:var(--b, red)"),
    *("display:none;display:foo", "visibility:hidden;visibility:seen", "zoom:0", "zoom:.001", "transform:scale(.01)"),
    *("transform:matrix(0,0,0,0,0,0)", "transform:rotateY(.25turn)", "rotate:y 90deg", "transform:skew(90deg)"),
    *("clip-path:inset(0 0 100% 0)", "clip-path:rect(0 0 0 0)", "clip-path:xywh(0 0 0 0)", "clip:rect(auto,0,0,auto)"),
    *(
        "mask:linear-gradient(transparent,transparent)",
        "-webkit-mask-image:linear-gradient(to left, transparent, transparent)",
    ),
    *(
        "position:absolute;left:calc(0px - 9999px)",
        "position:absolute;inset-inline-start:-9999px",
        "margin-block-start:-9999px",
    ),
    *(
        "position:fixed;top:300vh",
        "inline-size:0;overflow:hidden",
        "max-block-size:0;overflow:clip",
        "height:0;contain:paint",
    ),
    *(
        "-webkit-text-fill-color:transparent",
        "-webkit-text-fill-color:#fff",
        "color:color(srgb 1 1 1)",
        "color:hwb(0 100% 0%)",
    ),
    *(
        "color:lab(100% 0 0)",
        "color:oklch(1 0 0)",
        "color:lch(100 0 0 / 1)",
        "color:Canvas",
        "color:rgb(from white r g b)",
    ),
    *("filter:blur(99px)", "filter:brightness(0) invert(1)", "filter:contrast(0)", "letter-spacing:-9em"),
    *("text-indent:100%;overflow:hidden;white-space:nowrap", "text-indent:9999px;overflow:hidden"),
)
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
        "<details><summary>x</summary>WORDS</details>",
        "<details><p>WORDS</p></details>",
        "<dialog>WORDS</dialog>",
        "<p popover>WORDS</p>",
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
        "<font color=white>WORDS</font>",
        "<font size=0>WORDS</font>",
    ),
    *("<table bgcolor=black><tr><td>WORDS</table>", "<?php WORDS ?>", "<![CDATA[ WORDS ]]>", "<audio>WORDS</audio>"),
    '<script type=\'application/ld+json\'>{"a": "WORDS"}</script>',
)
SHEETS = (
    *(
        ".x{STYLE}",
        "#x{STYLE}",
        "div.x, p{STYLE}",
        "body > div{STYLE}",
        "[data-x]{STYLE}",
        "@media screen{.x{STYLE}}",
        "/* */.x{STYLE}",
    ),
    *(
        "@media (min-width: 100px){.x{STYLE}}",
        "@supports (display:grid){.x{STYLE}}",
        "@layer a{.x{STYLE}}",
        ".x{color:red}.x{STYLE}",
    ),
    *("div{&.x{STYLE}}", "body{.x{STYLE}}", ".x{&{STYLE}}", ".x{@media screen{STYLE}}", ".x{@layer a{&{STYLE}}}"),
    *(
        "div, p{&.x{STYLE}}",
        ":is(.x,.y){STYLE}",
        ":where(.y,.x){STYLE}",
        "div:not(.y,.z){STYLE}",
        ".x:not(:hover){STYLE}",
    ),
    *(
        '.y{content:"}"}.x{STYLE}',
        ".y{content:'{'}.x{STYLE}",
        ".y{background:url(data:a;b}c)}.x{STYLE}",
        ".x{y:z;{}STYLE}",
    ),
    *(":root{--s:1}.x{STYLE}", ".x{color:red;@supports(display:grid){STYLE}}"),
    *("@import 'a';.x{STYLE}", "@media print{.x{display:block}}.x{STYLE}", ".y .x, .x{STYLE}"),
)
INVISIBLE = "\u200b\u200c\u200d\u200e\u2060\u2063\u202e\u2066\ufeff\u00ad\u034f\u061c\u115f\u3164\u180e\ufe00\U000e0041\U000e0101\u206a"


def pages() -> Iterator[str]:
    """Yield a page for each way."""
    for style in STYLES:
        yield f"<p>seen</p><div style='{style}'>{WORDS}</div>"
        yield f'<main><p>seen</p><div style="{style}"><b>x <i>{WORDS}</i></b></div></main>'
    for element in ELEMENTS:
        yield f"<p>seen</p>{element.replace('WORDS', WORDS)}"
    for sheet in SHEETS:
        for style in STYLES[::3]:
            yield f"<style>{sheet.replace('STYLE', style)}</style><span>seen</span><div class=x id=x data-x>{WORDS}</div>"
    yield f"<style media=screen>.x{{display:none}}</style><span>seen</span><div class=x>{WORDS}</div>"
    yield f"<div style='background:#111'><p style='color:#fff'>seen</p><p style='color:#121212'>{WORDS}</p></div>"
    yield f"<style>:root{{--d:none}}.x{{display:var(--d)}}</style><span>seen</span><div class=x>{WORDS}</div>"
    yield f"<body text=white>{WORDS}<p style='color:black'>seen</p></body>"


def tagged(text: str) -> str:
    """Return words in characters that nobody sees."""
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def in_joiners(text: str) -> str:
    """Return words as joiners, bit by bit."""
    return "".join("\u200d" if int(bit) else "\u200c" for letter in text for bit in f"{ord(letter):08b}")
