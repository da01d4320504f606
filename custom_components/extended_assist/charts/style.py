"""The colors of charts, on a ground of their own: without knowing the theme around them, they read well on it."""

from typing import Final

COLORS: Final = 6
"""How many curves or states are told apart; more begin anew."""
STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#3d434a}.b{fill:#f7f8f9}.g{stroke:#cdd2d8}"
    ".l{stroke-width:1.7;stroke-linejoin:round}.a{opacity:.25}"
    ".c0{fill:#1769aa;stroke:#1769aa}.c1{fill:#b8560b;stroke:#b8560b}.c2{fill:#2a7d32;stroke:#2a7d32}"
    ".c3{fill:#8e3a9d;stroke:#8e3a9d}.c4{fill:#b3263f;stroke:#b3263f}.c5{fill:#00767a;stroke:#00767a}"
    ".n{fill:#c3c9d0}text.w{font-size:11px;fill:#fff}text.k{font-size:11px}"
    "@media(prefers-color-scheme:dark){text,text.k{fill:#d9dde2}.b{fill:#24282d}.g{stroke:#454b52}"
    ".c0{fill:#63b1ee;stroke:#63b1ee}.c1{fill:#f0a35a;stroke:#f0a35a}.c2{fill:#76c77e;stroke:#76c77e}"
    ".c3{fill:#d18fe0;stroke:#d18fe0}.c4{fill:#f0788c;stroke:#f0788c}.c5{fill:#4fc4c8;stroke:#4fc4c8}"
    ".n{fill:#50575f}text.w{fill:#111}}.o{fill:none}.s,.a{stroke:none}"
)
