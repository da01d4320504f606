"""The entities, areas, floors, labels and devices that a template names, and could reach with everything in sight.

Templates inside automations and scripts run in Home Assistant's full environment. So what they name is read from their
syntax beforehand; a template whose reach cannot be read is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, override

import jinja2
from jinja2 import nodes

from homeassistant.core import HomeAssistant, State, callback, valid_entity_id
from homeassistant.helpers.template import is_template_string

from ..exposure import Exposure, NotExposedError, is_secret_key
from ..results import ToolError
from .environment import FUNCTIONS
from .limits import Budget
from .render import check_length, environment, explain, nearest_known
from .state_proxies import TemplateHome

RUN_VARIABLES = frozenset({"trigger", "this", "wait", "repeat", "value", "value_json"})
"""Names that Home Assistant defines while automations and scripts run."""

_LOOKUPS = {function.name: function for function in FUNCTIONS}
# These reach nothing but the entity that is their first argument.
_ENTITY_LOOKUPS = frozenset(
    {
        "states",
        "state_attr",
        "is_state",
        "is_state_attr",
        "has_value",
        "state_translated",
        "state_attr_translated",
        "is_hidden_entity",
    }
)
_ATTRIBUTE_LOOKUPS = frozenset({"state_attr", "is_state_attr", "state_attr_translated"})
_ONLY_HERE = frozenset({"attr", "closest", "config_entry_attr", "config_entry_id", "distance", "entity_name"})
"""What Home Assistant's own environment answers beyond what is exposed, or by names that are not looked for here."""
_WHOLE_HOME = frozenset({"areas", "floors"})
# These use a filter or test that an argument names: which argument, and of which kind.
_NAMED_BY = {
    "map": (0, "filter"),
    "select": (0, "test"),
    "reject": (0, "test"),
    "selectattr": (1, "test"),
    "rejectattr": (1, "test"),
}


@dataclass(slots=True)
class References:
    """The references of a template."""

    entity_ids: set[str] = field(default_factory=set)
    """Every constant text that is an entity id, and every `states.domain.name`."""
    lookups: set[tuple[str, str]] = field(default_factory=set)
    """Functions for areas, floors, labels, devices and groups, each with its constant argument."""
    unavailable: set[str] = field(default_factory=set)
    """Why it cannot be used: functions, filters and tests that are not available here, imports."""
    dynamic: bool = False
    """Whether it also reaches what it does not name: by a computed id, or by going through many entities."""


def referenced(template: str, variables: Iterable[str] = ()) -> References:
    """Return the references of a template; variables are the names that will be defined when it is rendered.

    Raises ToolError for a template that cannot be read. Takes milliseconds for a long template.
    """
    check_length(template)
    if not is_template_string(template):
        return References()
    try:
        tree = environment().parse(template)
    except (jinja2.TemplateError, RecursionError) as err:
        raise ToolError(explain(err)) from err
    return _TemplateWalker(tree, variables).found


def named_entities(tree: nodes.Template) -> frozenset[str]:
    """Return the entities that a template names by constants."""
    return frozenset(_TemplateWalker(tree, ()).found.entity_ids)


async def async_validate(
    hass: HomeAssistant, exposure: Exposure, template: str, variables: Iterable[str] = ()
) -> References:
    """Return the references of a template, all available and exposed; raise ToolError with the reason otherwise."""
    found = await hass.async_add_executor_job(referenced, template, tuple(variables))
    check_references(hass, exposure, found)
    return found


@callback
def check_references(hass: HomeAssistant, exposure: Exposure, found: References) -> None:
    """Raise ToolError, with the reason, unless all that a template names is available and exposed."""
    if found.unavailable:
        raise ToolError(f"This template cannot be used here: {' '.join(sorted(found.unavailable))}")
    if found.dynamic:
        raise ToolError(
            "What this template reads cannot be checked beforehand. Name every entity, area, floor, label and device as a "
            "constant text, such as states('light.lamp'), and do not go through all states."
        )
    for entity_id in sorted(found.entity_ids):
        if not exposure.is_exposed(entity_id):
            raise NotExposedError(f"'{entity_id}' was not found or is not exposed.")
    seen, whole = TemplateHome(hass, exposure, Budget()), TemplateHome(hass, _Everything(hass, ""), Budget())
    for name, argument in sorted(found.lookups):
        visible, all_of_it = (_answer(home, name, argument) for home in (seen, whole))
        if not visible or visible != all_of_it:
            raise NotExposedError(
                f"{name}('{argument}') finds nothing, or also entities that are not exposed. "
                "Name the entities themselves."
            )


def _answer(home: TemplateHome, name: str, argument: str) -> Any:
    """Return the answer of a lookup, lists sorted so that two answers can be compared."""
    # What is asked about a device does not matter here, but whether it may be seen.
    answer = _LOOKUPS["device_name" if name in {"device_attr", "is_device_attr"} else name].run(home, argument)
    if isinstance(answer, list):
        return sorted(getattr(item, "entity_id", item) for item in answer)
    return answer


class _Everything(Exposure):
    """The whole home, to learn whether a lookup would find more than is exposed."""

    @override
    @callback
    def _should_expose(self, state: State) -> bool:
        return True


class _TemplateWalker:
    """Walks through a template."""

    def __init__(self, tree: nodes.Template, variables: Iterable[str]) -> None:
        """Read a whole template."""
        self.found = References()
        self._assigned = {node.name for node in tree.find_all(nodes.Name) if node.ctx in {"store", "param"}}
        self._macros = {node.name for node in tree.find_all(nodes.Macro)}
        self._known = (
            self._assigned | self._macros | RUN_VARIABLES | {"loop", "caller", "varargs", "kwargs", *variables}
        )
        if hidden := (self._assigned | self._macros) & environment().globals.keys():
            # The name would mean a function in one place and a value in another.
            self.found.unavailable.add(f"'{min(hidden)}' is the name of a function; call the variable differently.")
        self._read(tree)

    def _read(self, node: nodes.Node) -> None:
        """Read a node and what is inside it."""
        match node:
            case nodes.Const(value=str() as text):
                self._text(text)
            case nodes.Getattr() | nodes.Getitem() if chain := _chain(node):
                self._states(chain)
                return
            case nodes.Getattr(attr=name):
                self._attribute(name)
            case nodes.Call():
                self._call(node)
                return
            case nodes.Filter(node=value, name=name, args=args) | nodes.Test(node=value, name=name, args=args):
                self._lookup(name, "filter" if isinstance(node, nodes.Filter) else "test", value, args)
                # Arguments given as a collection could name anything.
                self.found.dynamic |= bool(node.dyn_args or node.dyn_kwargs)
            case nodes.Name(ctx="load", name=name):
                self._name(name)
            case nodes.Include() | nodes.Import() | nodes.FromImport() | nodes.Extends():
                self.found.unavailable.add("Templates of other files are not available.")
        for child in node.iter_child_nodes():
            self._read(child)

    def _text(self, text: str) -> None:
        """Add a constant that is an entity id; it may also be the name of an attribute, or the way to one."""
        if valid_entity_id(entity_id := text.strip().lower()):
            self.found.entity_ids.add(entity_id)
        if not valid_entity_id(entity_id) or entity_id.startswith("attributes."):
            self._attribute(text)

    def _attribute(self, text: str) -> None:
        """Refuse to name an attribute that is never shown."""
        if secret := next((name for name in text.split(".") if name.isidentifier() and is_secret_key(name)), None):
            self.found.unavailable.add(f"The attribute '{secret}' is not available.")

    def _states(self, chain: list[nodes.Expr]) -> None:
        """Read `states.light.lamp…` or `states['light.lamp']…`; anything shorter is a whole domain."""
        first, second = [*map(_constant, chain), None, None][:2]
        of_entity = 1 if first and "." in first else 2
        for index, part in enumerate(chain):
            if index >= of_entity or _constant(part) is None:
                self._read(part)
        if first and "." in first:
            self._text(first)
        elif first and second:
            self._text(f"{first}.{second}")
        else:
            self.found.dynamic = True

    def _call(self, node: nodes.Call) -> None:
        """Read a call: of a function by its name, of a macro, or of a method."""
        inside = [*node.args, *node.kwargs, *(part for part in (node.dyn_args, node.dyn_kwargs) if part)]
        match node.node:
            case nodes.Name(name=name) if name in _ONLY_HERE:
                self._only_here(name)
            case nodes.Name(name=name) if name in _LOOKUPS:
                self._lookup(name, "function", node.args[0] if node.args else None, node.args[1:])
                if node.dyn_args or node.dyn_kwargs or (node.kwargs and not node.args):
                    self.found.dynamic = True
            case nodes.Name(name=name) if name in environment().globals:
                self.found.dynamic |= name == "apply"
            case nodes.Name(name=name) if name in self._macros or name in {"caller", "loop"}:
                pass
            case nodes.Name(name=name) if name not in self._known:
                message = f"'{name}' is undefined"
                self._unavailable(message)
            case nodes.Getattr(node=owner):
                self._read(owner)
            case callee:
                # The value of a variable is called: it could be any function.
                self.found.dynamic = True
                self._read(callee)
        for child in inside:
            self._read(child)

    def _lookup(self, name: str, kind: str, value: nodes.Expr | None, args: list[nodes.Expr]) -> None:
        """Read a use of a function, filter or test on a value."""
        here = environment()
        table = {"function": here.globals, "filter": here.filters, "test": here.tests}[kind]
        if name in _ONLY_HERE:
            self._only_here(name)
        elif name not in table:
            message = f"No {kind} named '{name}'"
            self._unavailable(message)
        elif name in _NAMED_BY:
            position, named = _NAMED_BY[name]
            self._indirect(args[position : position + 1], named, value if position == 0 else None)
        elif name in _WHOLE_HOME or name == "apply" or (name == "labels" and value is None):
            self.found.dynamic = True
        elif name in _LOOKUPS:
            constants = _constants(nodes.List([value, *args]) if name == "expand" and value else value)
            if constants is None or (name in _ATTRIBUTE_LOOKUPS and not (args and _constant(args[0]))):
                self.found.dynamic = True
            elif name not in _ENTITY_LOOKUPS:
                self.found.lookups |= {(name, constant) for constant in constants if not _is_entity(name, constant)}

    def _indirect(self, names: list[nodes.Expr], kind: str, items: nodes.Expr | None) -> None:
        """Read `|map('states')` and its like: a lookup on every item has to find constants."""
        match names:
            case [nodes.Const(value=str() as name)]:
                self._lookup(name, kind, items, [])
            case [_]:
                self.found.dynamic = True

    def _unavailable(self, message: str) -> None:
        """Add the reason why the template cannot be used."""
        self.found.unavailable.add(f"{message}.{nearest_known(message)}")

    def _only_here(self, name: str) -> None:
        """Add that something is available in templates that are rendered at once, and not in these."""
        self.found.unavailable.add(f"'{name}' is not available where Home Assistant itself renders the template.")

    def _name(self, name: str) -> None:
        """Read a name that is not called at once: a function could be called later, by any name."""
        if name in _ONLY_HERE:
            self._only_here(name)
        elif name in _LOOKUPS or name == "apply":
            self.found.dynamic = True
        elif name not in environment().globals and name not in self._known:
            message = f"'{name}' is undefined"
            self._unavailable(message)


def _chain(node: nodes.Expr) -> list[nodes.Expr]:
    """Return the attributes and keys that follow `states` in an expression; none for other expressions."""
    steps: list[nodes.Expr] = []
    while isinstance(node, nodes.Getattr | nodes.Getitem):
        steps.append(nodes.Const(node.attr) if isinstance(node, nodes.Getattr) else node.arg)
        node = node.node
    return steps[::-1] if isinstance(node, nodes.Name) and node.name == "states" else []


def _constant(node: nodes.Expr) -> str | None:
    """Return the text that an expression is sure to be, or None."""
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


def _constants(node: nodes.Expr | None) -> list[str] | None:
    """Return the texts that an expression is sure to be, or None."""
    match node:
        case nodes.Const(value=str() as text):
            return [text]
        case nodes.List(items=items) | nodes.Tuple(items=items):
            found = [_constants(item) for item in items]
            return None if None in found else [text for texts in found if texts for text in texts]
    return None


def _is_entity(name: str, text: str) -> bool:
    """Return whether a lookup starts at an entity and so finds no more than that entity's own place."""
    return name != "expand" and valid_entity_id(text)
