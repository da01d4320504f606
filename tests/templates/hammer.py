"""Render random templates and print what went wrong, as JSON: `python -m tests.templates.hammer FIRST COUNT`.

A process of its own, which a test can see die. Each template is rendered in a thread, as by the tool, while another watches
how long the interpreter was held; the time is that of a processor, for the machine that tests may be busy.
"""

from contextlib import suppress
import json
import resource
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import jinja2

from custom_components.extended_assist.templates.limits import Budget
from custom_components.extended_assist.templates.render import environment
from custom_components.extended_assist.templates.state_proxies import TemplateHome
from homeassistant.util import dt as dt_util

from .random_templates import Grammar

SECONDS = 0.3
"""What a rendering may take before it is to end itself."""
LONGEST = 1.2
"""Seconds of one operation after that: nothing may hold the interpreter for longer."""
MEMORY = 400
"""Megabytes that the whole run may take."""


def hammered(template: str) -> float:
    """Render a template; return the seconds of processor time that it took."""
    budget = Budget(SECONDS)
    home = SimpleNamespace(budget=budget, moment=dt_util.utcnow(), all=lambda _=None: [], find=lambda _: None)
    here = environment().for_rendering(cast("TemplateHome", home))
    taken: list[float] = []

    def run() -> None:
        begun = time.thread_time()
        with suppress(Exception):
            jinja2.Template.from_code(here, here.compile(template), here.globals).render()
        taken.append(time.thread_time() - begun)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return taken[0]


def main(first: int, count: int) -> None:
    """Print the templates that took too long, and the megabytes that all of them took."""
    environment()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wrong: list[tuple[Any, ...]] = []
    for seed in range(first, first + count):
        template = Grammar(seed).template()
        print(seed, file=sys.stderr, flush=True)  # noqa: T201 - the last one is known if the process dies
        taken = hammered(template)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        if taken > LONGEST or grown > MEMORY:
            wrong.append((seed, round(taken, 2), round(grown), template))
            break
    print(json.dumps(wrong))  # noqa: T201 - read by a test


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
