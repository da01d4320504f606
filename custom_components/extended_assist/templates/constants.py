"""The constants of templates: the entities that they name, and variables that stand for one."""

from collections.abc import Mapping

from jinja2 import nodes

from homeassistant.core import valid_entity_id


def named_entities(tree: nodes.Template) -> frozenset[str]:
    """Return the entities that a template names: constants that are ids, and `states.domain.name`."""
    texts = [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
    for node in tree.find_all(nodes.Expr):
        owner = getattr(node, "node", None)
        match [*map(_name, (node, owner, getattr(owner, "node", None)))]:
            case [str() as name, str() as domain, "states"]:
                texts.append(f"{domain}.{name}")
            case [str() as entity_id, "states", _]:
                texts.append(entity_id)
    return frozenset(text for text in (text.strip().lower() for text in texts) if valid_entity_id(text))


def put_in(tree: nodes.Node, constants: Mapping[str, str]) -> None:
    """Put variables that are sure to be a text in the place of their names, but for those that the template sets itself."""
    if not constants:
        return
    known = constants.keys() - {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    for node in [tree, *tree.find_all(nodes.Node)]:
        for key, value in list(node.iter_fields()):
            put = [
                nodes.Const(constants[item.name], lineno=item.lineno)
                if isinstance(item, nodes.Name) and item.name in known
                else item
                for item in (value if isinstance(value, list) else [value])
            ]
            setattr(node, key, put if isinstance(value, list) else put[0])


def _name(node: nodes.Node | None) -> str | None:
    """Return the name that an expression has, or the constant that it takes a part by."""
    match node:
        case nodes.Name(name=str() as name) | nodes.Getattr(attr=str() as name):
            return name
        case nodes.Getitem(arg=nodes.Const(value=str() as name)):
            return name
    return None
