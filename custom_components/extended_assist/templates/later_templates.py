"""Determine statically which entities a template can read that is stored to run in Home Assistant's full environment."""

from collections.abc import Mapping
from typing import Any, Final

import jinja2
from jinja2 import nodes

from homeassistant.core import valid_entity_id
from homeassistant.helpers.template import is_template_string

from ..exposure.entities import is_secret_key
from ..results import ToolError
from . import forms
from .forms import NAMESPACE, PLAIN, Form
from .names import put_in
from .render import check_length, environment, explain, nearest_known
from .states import WRITTEN, Reach, Step

_OPERATORS: Final = (
    nodes.Add, nodes.Concat, nodes.Dict, nodes.Div, nodes.FloorDiv, nodes.List, nodes.Mod, nodes.Mul, nodes.Neg, nodes.Pair,
    nodes.Pos, nodes.Pow, nodes.Slice, nodes.Sub, nodes.Tuple,
)  # fmt: skip
"""Expressions that combine values."""
_ROUNDS: Final = 5
"""The most passes until the forms of the template's own names are stable."""


def plain_form(tree: nodes.Template, names: Mapping[str, Form]) -> Reach:
    """Return the whole reach of a template; raise ToolError with the line and what to write instead where it is not plain.

    Promised of what is returned, once check_reach has let it through: rendered in Home Assistant's own environment, whatever
    happens in the home later, the template tells of no entity but these and those of the names, of no attribute but these,
    and its value is plain data. The names are those that will be defined, each with what it stands for. A value may come
    from the state of an entity, so that it is no safe target: where a target is computed, each constant is to be aimed at.
    """
    return _Reader(tree, names).reach


def read_form(template: str, names: Mapping[str, Form]) -> Reach:
    """Return the entity access of a template text, as plain_form does. A long template takes milliseconds."""
    check_length(template)
    if not is_template_string(template):
        return Reach()
    try:
        return plain_form(environment().parse(template), names)
    except (jinja2.TemplateError, RecursionError) as err:
        raise ToolError(explain(err)) from err


class _Reader:
    """Determines the form of every expression of a template, or refuses it."""

    def __init__(self, tree: nodes.Template, names: Mapping[str, Form]) -> None:
        """Read the whole template until the forms of its own names are stable."""
        self.reach = Reach()
        self._given = {name: PLAIN if form.constant else form for name, form in names.items()}
        put_in(tree, {name: form.constant for name, form in names.items() if form.constant})
        self._own: dict[str, Form] = {}
        self._loops = 0
        for _ in range(_ROUNDS):
            before = dict(self._own)
            self._statements(tree.body)
            if self._own == before:
                return
        raise ToolError(f"Too many names are set from each other {WRITTEN}. Write the values themselves.")

    # Statements

    def _statements(self, body: list[Any]) -> None:
        """Read statements."""
        for node in body:
            match node:
                case nodes.Output(nodes=parts):
                    for part in parts:
                        if not isinstance(part, nodes.TemplateData):
                            self._plain(part)
                case nodes.If(test=test, body=then, elif_=others, else_=otherwise):
                    self._truth(test)
                    self._statements([*then, *others, *otherwise])
                case nodes.For(target=target, iter=items, recursive=False):
                    self._for(node, target, items)
                case nodes.Assign(target=target, node=value):
                    form = self._form(value)
                    self._assign(target, form if isinstance(target, nodes.Name) else self._is_plain(value, form))
                case nodes.AssignBlock(target=target, filter=None, body=inside):
                    self._statements(inside)
                    self._assign(target, PLAIN)
                case nodes.Break() | nodes.Continue():
                    pass
                case _:
                    raise self._refused(node, f"{{% {type(node).__name__.lower()} %}}", "Use if, for and set.")

    def _for(self, node: nodes.For, target: nodes.Node, items: nodes.Node) -> None:
        """Read a loop over values, whose items are values."""
        self._plain(items)
        self._assign(target, PLAIN)
        self._loops += 1
        if node.test is not None:
            self._truth(node.test)
        self._statements(node.body)
        self._loops -= 1
        self._statements(node.else_)

    def _assign(self, target: nodes.Node, form: Form) -> None:
        """Assign a form to a name; with several forms, the more restricted one applies."""
        match target:
            case nodes.Tuple(items=items):
                for item in items:
                    self._assign(item, form)
            case nodes.NSRef(name=name) if self._own.get(name) is NAMESPACE and form is PLAIN:
                pass
            case nodes.Name(name=name) if (
                name not in environment().globals.keys() - forms.CONSTANTS
                and self._given.get(name, PLAIN) is PLAIN
                and name != "loop"
            ):
                before = self._own.get(name, form)
                if PLAIN not in (before, form) and before != form:
                    raise self._refused(target, f"'{name}' for several things", "Use a name for each.")
                self._own[name] = before if form is PLAIN else form
            case nodes.Name(name=name):
                raise self._refused(
                    target, f"'{name}' as the name of a variable", "It means something else; rename it."
                )
            case _:
                raise self._refused(target, "this kind of set", "Set a variable, or a value of a namespace.")

    # Expressions

    def _plain(self, node: nodes.Node) -> Form:
        """Read an expression that must be a value."""
        return self._is_plain(node, self._form(node))

    def _is_plain(self, node: nodes.Node, form: Form) -> Form:
        """Refuse forms other than a value."""
        if form is PLAIN:
            return form
        some = next((name for name in ("state", "id", "attributes") if name in form.parts), min(form.parts, default=""))
        raise self._refused(
            node,
            f"{form.what} as a value",
            f"Name one part of it, such as .{some}." if some else "Name one part of it.",
        )

    def _truth(self, node: nodes.Node) -> None:
        """Read an expression in a boolean context, where any form is allowed."""
        match node:
            case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
                self._truth(left)
                self._truth(right)
            case nodes.Not(node=inside):
                self._truth(inside)
            case _:
                self._form(node)

    def _form(self, node: Any) -> Form:
        """Return the form of an expression."""
        match node:
            case nodes.Const(value=value):
                self._constant(value)
                return PLAIN
            case nodes.Name() | nodes.Getattr() | nodes.Getitem():
                return self._part(node)
            case nodes.Call():
                return self._call(node)
            case nodes.Filter(node=nodes.Expr() as value, name=name):
                return self._filter(node, value, name)
            case nodes.And(left=left, right=right):
                self._truth(left)  # What is not there is nothing to tell.
                return self._form(right)
            case nodes.Or(left=left, right=right):
                return self._either(node, left, right)
            case nodes.CondExpr(test=test, expr1=one, expr2=other):
                self._truth(test)
                return self._either(node, one, other) if other is not None else self._form(one)
        self._value(node)
        return PLAIN

    def _value(self, node: Any) -> None:
        """Read an expression whose result is a value: a test, a comparison, an operator."""
        match node:
            case nodes.Not():
                self._truth(node)
            case nodes.Test(node=value, name=name) if name in forms.PRESENT and not node.args:
                self._truth(value)
            case nodes.Test(node=value, name=name):
                if not self._of_entity(node, name, [value, *node.args]):
                    self._known(node, "test", name)
                    self._arguments(node, [value, *node.args])
            case nodes.Compare(expr=first, ops=[nodes.Operand(op="eq" | "ne", expr=nodes.Const(value=None))]):
                self._truth(first)
            case nodes.Compare(expr=first, ops=operands):
                # A constant that is compared is not told, so it may also be the id of what is hidden.
                compared = [first, *(operand.expr for operand in operands)]
                self._arguments(None, [part for part in compared if not isinstance(part, nodes.Const)])
            case _ if isinstance(node, _OPERATORS):
                for child in node.iter_child_nodes():
                    self._plain(child)
            case _:
                raise self._refused(
                    node, f"'{type(node).__name__.lower()}'", "Use values, operators, filters and tests."
                )

    def _constant(self, value: Any) -> None:
        """Add a constant that is an entity id."""
        if not isinstance(value, str) or not valid_entity_id(text := value.strip().lower()):
            return
        if not text.partition(".")[0].isdigit():  # It would be a number or a time.
            self.reach.entity_ids.add(text)

    def _either(self, node: nodes.Node, one: nodes.Expr, other: nodes.Expr) -> Form:
        """Return the form of one of two expressions."""
        found = [form for form in (self._form(one), self._form(other)) if form is not PLAIN]
        if len(found) > 1 and found[0] != found[1]:
            raise self._refused(node, "one of several things", "Choose between values.")
        return found[0] if found else PLAIN

    def _part(self, node: Any) -> Form:
        """Return the form of a name or of a part."""
        steps: list[Step] = []
        while True:
            match node:
                case nodes.Getattr(node=owner, attr=name):
                    node, steps = owner, [name, *steps]
                case nodes.Getitem(node=owner, arg=nodes.Const(value=str() | int() as step)):
                    node, steps = owner, [step, *steps]
                case _:
                    break
        for step in steps:
            if isinstance(step, str) and step.startswith("_"):
                raise self._refused(node, f"'{step}'", "Name a part without an underscore at its beginning.")
        match node:
            case nodes.Name(name="states"):
                form, steps = self._state(node, steps)
            case nodes.Name(name=name):
                form = self._name(node, name)
            case nodes.Getitem(node=owner, arg=arg):
                self._plain(arg)
                form = self._plain(owner)
            case nodes.Call(node=nodes.Name(name="state_attr")) if steps:
                self._of_entity(node, "state_attr", node.args, tuple(steps))
                return PLAIN
            case _:
                form = self._form(node)
        return self._follow(node, form, steps)

    def _follow(self, node: nodes.Node, form: Form, steps: list[Step]) -> Form:
        """Return the form after following named parts."""
        for index, step in enumerate(steps):
            if form is PLAIN:
                self._constant(step)
            elif form.attributes_of is not None:
                return self._attribute(node, form.attributes_of, tuple(steps[index:]))
            elif form.any_part and isinstance(step, str):
                form = PLAIN
            elif step in form.parts:
                form = form.parts[str(step)]
            else:
                known = ", ".join(sorted(form.parts))
                raise self._refused(node, f"'{step}'", f"Known here: {known}." if known else "It has no parts.")
        return form

    def _state(self, node: nodes.Node, steps: list[Step]) -> tuple[Form, list[Step]]:
        """Return the form of `states.light.lamp` or `states['light.lamp']`, and the parts after it."""
        match steps:
            case [str() as entity_id, *rest] if "." in entity_id:
                pass
            case [str() as domain, str() as name, *rest]:
                entity_id = f"{domain}.{name}"
            case _:
                raise self._refused(node, "going through states", "Name each entity, such as states('light.lamp').")
        if not valid_entity_id(entity_id := entity_id.lower()):
            raise self._refused(node, f"'{entity_id}'", "Name an entity by its id.")
        self.reach.entity_ids.add(entity_id)
        return forms.state_form(frozenset({entity_id})), rest

    def _attribute(self, node: nodes.Node, entity_ids: frozenset[str], path: tuple[Step, ...]) -> Form:
        """Add an attribute; the name of a credential is refused."""
        if not isinstance(path[0], str):
            raise self._refused(node, f"'{path[0]}'", "Name an attribute.")
        if secret := next((step for step in path if isinstance(step, str) and is_secret_key(step)), None):
            raise ToolError(f"{self._line(node)}The attribute '{secret}' is not available. Leave it out.")
        self.reach.attributes.add((entity_ids, path))
        return PLAIN

    def _name(self, node: nodes.Node, name: str) -> Form:
        """Return the form of a name outside of a call."""
        if name == "loop" and self._loops:
            return forms.LOOP
        if name in self._own or name in self._given:
            return self._own.get(name) or self._given[name]
        if name in forms.CONSTANTS:
            return PLAIN
        if name in environment().globals:
            raise self._refused(node, f"'{name}' without a call", forms.INSTEAD.get(name, f"Write {name}(…)."))
        message = f"'{name}' is undefined"
        raise ToolError(f"{self._line(node)}{message}.{nearest_known(message)}")

    def _call(self, node: nodes.Call) -> Form:
        """Return the form of a call of a listed function or of a value's method."""
        match node.node:
            case nodes.Name(name=name) if name not in self._own and name not in self._given:
                if self._of_entity(node, name, node.args):
                    return PLAIN
                self._known(node, "function", name)
                self._arguments(node, node.args)
                return NAMESPACE if name == "namespace" else PLAIN
            case nodes.Getattr(node=owner, attr=name) if name in forms.METHODS:
                form = self._form(owner)
                match node.args:
                    case [nodes.Const(value=str() as part), *rest] if name == "get" and form is not PLAIN:
                        self._arguments(node, rest)
                        return self._follow(node, form, [part])
                self._is_plain(owner, form)
                self._arguments(node, node.args)
                return PLAIN
            case nodes.Getattr(attr=name):
                raise self._refused(node, f"the method '{name}'", f"Known: {', '.join(sorted(forms.METHODS))}.")
        raise self._refused(node, "a call of what is no function", "Call functions by their names.")

    def _filter(self, node: nodes.Filter, value: nodes.Expr, name: str) -> Form:
        """Return the form of a filter's result."""
        if self._of_entity(node, name, [value, *node.args]):
            return PLAIN
        if name not in forms.NAMING:
            self._known(node, "filter", name)
            self._arguments(node, [value, *node.args])
            return PLAIN
        of_attribute, known = forms.NAMING[name]
        names, rest = node.args[: 1 + of_attribute], node.args[1 + of_attribute :]
        names += [pair.value for pair in node.kwargs if pair.key == "attribute"]
        texts = [part.value if isinstance(part, nodes.Const) else None for part in names]
        if not all(isinstance(text, str | int) and str(text)[:1] != "_" and "._" not in str(text) for text in texts):
            raise self._refused(node, f"|{name} by a name that is computed", "Write the name as a constant.")
        used = texts[1:2] if of_attribute else texts[:1] if node.args else []
        for one in used:
            if one not in known:
                kind = "filter" if name == "map" else "test"
                raise self._refused(node, f"|{name} with the {kind} '{one}'", forms.INSTEAD.get(str(one), ""))
        self._arguments(node, [value, *rest])
        return PLAIN

    def _of_entity(self, node: Any, name: str, args: list[Any], path: tuple[Step, ...] = ()) -> bool:
        """Read a function of one entity; return whether it is one."""
        has_attribute = name in forms.ATTRIBUTE_FUNCTIONS
        if not has_attribute and name not in forms.ENTITY_FUNCTIONS:
            return False
        match args:
            case [nodes.Const(value=str() as text), *rest] if valid_entity_id(text.lower()):
                entity_ids = frozenset({text.lower()})
                self.reach.entity_ids.update(entity_ids)
            case [nodes.Getattr(attr="entity_id") as one, *rest] if (owner := self._form(one.node)).parts.get(
                "to_state"
            ):
                self._form(one)
                entity_ids = owner.parts["to_state"].parts["attributes"].attributes_of or frozenset()
            case _:
                raise self._refused(node, f"{name} of what is no constant", f"Write an id, as {name}('light.lamp').")
        if has_attribute:
            match rest:
                case [nodes.Const(value=str() as attribute), *rest]:
                    self._attribute(node, entity_ids, (attribute, *path))
                case _:
                    raise self._refused(node, f"{name} with a name that is no constant", "Write the attribute's name.")
        if any(pair.key not in forms.ENTITY_OPTIONS for pair in node.kwargs):
            raise self._refused(node, f"{name} with arguments by name", "Give them in their order.")
        self._arguments(node, rest)
        return True

    def _arguments(self, node: Any, args: list[Any]) -> None:
        """Read arguments, which must be values without unpacking."""
        if node is not None and (node.dyn_args or node.dyn_kwargs):
            raise self._refused(node, "arguments given as a collection", "Write each of them.")
        for argument in [*args, *((pair.value for pair in node.kwargs) if node is not None else ())]:
            self._plain(argument)

    def _known(self, node: nodes.Node, kind: str, name: str) -> None:
        """Refuse a function, filter or test that is not listed."""
        table = {"function": forms.FUNCTIONS, "filter": forms.FILTERS, "test": forms.TESTS}[kind]
        here = {"function": environment().globals, "filter": environment().filters, "test": environment().tests}[kind]
        if name in table:
            return
        if name in here or name in forms.INSTEAD:
            raise self._refused(node, f"the {kind} '{name}'", forms.INSTEAD.get(name, ""))
        message = f"'{name}' is undefined" if kind == "function" else f"No {kind} named '{name}'"
        raise ToolError(f"{self._line(node)}{message}.{nearest_known(message)}")

    @staticmethod
    def _line(node: nodes.Node) -> str:
        """Return the start of an error about a line."""
        return f"Line {node.lineno}: " if node.lineno else ""

    def _refused(self, node: nodes.Node, part: str, instead: str) -> ToolError:
        """Return the error for a part, with an alternative."""
        return ToolError(f"{self._line(node)}{part} cannot be used {WRITTEN}. {instead}".rstrip())
