"""The pages as such: every block has a test that runs it, every link leads somewhere, and nothing is said of machines."""

from pathlib import Path
import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from custom_components.extended_assist.const import DOMAIN

from .pages import ROOT, anchors, blocks, links, names, prose, read

REPOSITORY = "extended-assist/extended-assist"
COMMANDS, CONTRIBUTING = "test_commands.py", "test_contributing.py"
EXAMPLES, FUNCTIONS, TOOLS = "test_examples.py", "test_functions.py", "test_tools.py"
RUN_BY = {
    ("CONTRIBUTING.md", "json"): CONTRIBUTING,
    ("CONTRIBUTING.md", "markdown"): CONTRIBUTING,
    ("CONTRIBUTING.md", "python"): CONTRIBUTING,
    ("CONTRIBUTING.md", "sh"): COMMANDS,
    ("README.md", "sh"): COMMANDS,
    ("docs/architecture.md", "mermaid"): "../test_structure.py",
    ("docs/configuration.md", "jinja"): EXAMPLES,
    ("docs/developers.md", "python"): "test_developers.py",
    ("docs/evaluation.md", "sh"): COMMANDS,
    ("docs/examples.md", "yaml"): EXAMPLES,
    ("docs/functions.md", "yaml"): FUNCTIONS,
    ("docs/local-models.md", "sh"): COMMANDS,
    ("docs/local-models.md", "yaml"): COMMANDS,
    ("docs/panel.md", "yaml"): "../e2e/test_panel.py",
    ("docs/removal.md", "sh"): COMMANDS,
    ("docs/soak.md", "sh"): COMMANDS,
    ("docs/tools/acting.md", "json"): TOOLS,
    ("docs/tools/automations.md", "json"): TOOLS,
    ("docs/tools/automations.md", "yaml"): EXAMPLES,
    ("docs/tools/computing.md", "json"): TOOLS,
    ("docs/tools/energy.md", "json"): TOOLS,
    ("docs/tools/habits.md", "json"): TOOLS,
    ("docs/tools/later.md", "json"): TOOLS,
    ("docs/tools/memory.md", "json"): TOOLS,
    ("docs/tools/memory.md", "yaml"): TOOLS,
    ("docs/tools/past.md", "json"): TOOLS,
    ("docs/tools/rehearsal.md", "json"): TOOLS,
    ("docs/tools/cameras.md", "json"): TOOLS,
    ("docs/tools/web.md", "json"): TOOLS,
    ("docs/troubleshooting.md", "yaml"): EXAMPLES,
}
"""Which test runs the blocks of a language on a page."""
MACHINE = re.compile(r"(?<![\w.])/(?:work|tmp|root|home|usr|var)/|localhost:\d|—")
"""Paths of a machine, and dashes that are too long for plain sentences."""


def test_every_block_is_run() -> None:
    """Whoever adds a block says what runs it; what is said of blocks that are gone is taken out."""
    found = {(block.page, block.language): str(block) for page in names() for block in blocks(page)}
    assert not [place for (_, language), place in found.items() if not language]
    assert found.keys() == RUN_BY.keys()
    for (page, _), test in RUN_BY.items():
        source = (Path(__file__).parent / test).read_text(encoding="utf-8")
        assert page in source or (test == TOOLS and page.startswith("docs/tools/")), (page, test)


@pytest.mark.parametrize("page", names())
def test_links(page: str) -> None:
    """Files and headings that a page points to exist, and addresses of others are whole."""
    for link in links(page):
        if link.startswith("http"):
            assert urlsplit(link).scheme == "https", link
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(file).resolve() if file else ROOT / page
        name = str(target.relative_to(ROOT))
        assert target.exists(), f"{page}: {link}"
        if anchor:
            assert anchor in anchors(name), f"{page}: {link}"


@pytest.mark.parametrize("page", names())
def test_images(page: str) -> None:
    """Every picture says in words what it shows, and is no wider than a page."""
    badges = ("/badge.svg", "/badges/hacs_repository.svg", "/badges/config_flow_start.svg")
    assert all(image.endswith(badges) for image in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", prose(page)))
    for image in re.findall(r"<img [^>]*>", prose(page)):
        assert re.search(r'alt="[^"]{20,}"', image), image
        assert int(re.search(r'width="(\d+)"', image)[1]) <= 800, image


def test_links_into_home_assistant() -> None:
    """Buttons that open the reader's own Home Assistant carry what it needs."""
    found = [urlsplit(link) for page in names() for link in links(page) if "my.home-assistant.io/redirect" in link]
    queries = [(parts.path.removeprefix("/redirect/").strip("/"), parse_qs(parts.query)) for parts in found]
    owner, _, repository = REPOSITORY.partition("/")
    for kind, query in queries:
        match kind:
            case "hacs_repository":
                assert query == {"owner": [owner], "repository": [repository], "category": ["integration"]}
            case "config_flow_start":
                assert query == {"domain": [DOMAIN]}
            case "blueprint_import":
                (url,) = query["blueprint_url"]
                path = unquote(url).removeprefix(f"https://github.com/{REPOSITORY}/blob/main/")
                assert (ROOT / path).exists(), url
            case _:
                pytest.fail(f"unknown: {kind}")
    assert {kind for kind, _ in queries} == {"hacs_repository", "config_flow_start", "blueprint_import"}


@pytest.mark.parametrize("page", names())
def test_nothing_of_machines(page: str) -> None:
    """No path of somebody's machine, and plain punctuation."""
    found = MACHINE.findall(read(page))
    assert not found, found


def test_index() -> None:
    """The index leads to every page, and the README to the index."""
    listed = {link.partition("#")[0] for link in links("docs/README.md")}
    assert {page.removeprefix("docs/") for page in names() if page.startswith("docs/") and page.count("/") == 1} == {
        "README.md",
        *(link for link in listed if not link.startswith("..")),
    }
    assert {f"tools/{name}" for name in _tool_pages()} == {
        link.partition("#")[0] for link in links("docs/tools.md") if link.startswith("tools/")
    }
    assert "docs/README.md" in set(links("README.md"))


def _tool_pages() -> set[str]:
    return {path.name for path in (ROOT / "docs" / "tools").glob("*.md")}


def test_readme_is_short() -> None:
    """Somebody who looks in has read it in three minutes, and what it says can be asked is asked in a test."""
    assert len(read("README.md").splitlines()) < 120
    asked = read("README.md").partition("## What you can ask")[2].partition("\n## ")[0]
    questions = re.findall(r"^- \*(.+?)\*", asked, re.MULTILINE)
    tried = "".join(read(f"docs/tools/{name}") for name in _tool_pages())
    assert len(questions) >= 8
    assert not [question for question in questions if f"*{question}*" not in tried]
