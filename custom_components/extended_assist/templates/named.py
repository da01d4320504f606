"""The entities that a template names by constants."""

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


def _name(node: nodes.Node | None) -> str | None:
    """Return the name that an expression has, or the constant that it takes a part by."""
    match node:
        case nodes.Name(name=str() as name) | nodes.Getattr(attr=str() as name):
            return name
        case nodes.Getitem(arg=nodes.Const(value=str() as name)):
            return name
    return None
