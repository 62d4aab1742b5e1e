"""Names in Python."""

from __future__ import annotations

from tidegate.rules.normalise.scopes import Binds, Role, Rules
from tidegate.rules.normalise.syntax import Node, Source

_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension"}
    | {"generator_expression"}
)
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})
_SPLATS = frozenset({"list_splat_pattern", "dictionary_splat_pattern"})
_PARAMETERS = frozenset({"parameters", "lambda_parameters"})
_DEFAULTS = frozenset({"default_parameter", "typed_default_parameter"})
_PLAIN_DECORATORS = frozenset({"@staticmethod", "@classmethod", "@property"})

_KEEPS = frozenset(
    {("attribute", "attribute"), ("keyword_argument", "name"), ("function_definition", "name")}
    | {("class_definition", "name")}
)


def _role(node: Node, source: Source) -> Role:
    parent = node.parent
    if parent is None or (parent.kind, node.field) in _KEEPS:
        return "keeps"
    declared = _parameter(node)
    if declared is not None:
        return "keeps" if _named_by_others(declared, source) else Binds("inner")
    if parent.kind == "named_expression" and node.field == "name":
        return Binds("function")
    if parent.kind == "as_pattern_target" or node.field == "alias":
        return Binds("function")
    top = node
    while top.parent is not None and top.parent.kind in _PATTERNS:
        top = top.parent
        if top.parent is not None and top.parent.kind == "as_pattern_target":
            return Binds("function")
    if top.field == "left" and top.parent is not None:
        if top.parent.kind in {"assignment", "augmented_assignment", "for_statement"}:
            return Binds("function")
        if top.parent.kind == "for_in_clause":
            return Binds("inner")
    return "uses"


def _parameter(node: Node) -> Node | None:
    """Return the function or lambda whose parameter a name is, if it is one."""
    at = node
    parent = node.parent
    if parent is not None and parent.kind in _DEFAULTS:
        if node.field != "name":
            return None
        at, parent = parent, parent.parent
    else:
        if parent is not None and parent.kind in _SPLATS:
            at, parent = parent, parent.parent
        if parent is not None and parent.kind == "typed_parameter" and at.field != "type":
            at, parent = parent, parent.parent
    return parent.parent if parent is not None and parent.kind in _PARAMETERS else None


def _named_by_others(function: Node, source: Source) -> bool:
    """Return whether parameters may be given by name from elsewhere: fixtures, routes, commands."""
    if function.kind == "lambda":
        return False
    name = function.child("name")
    if name is not None and source.of(name).startswith("test"):
        return True
    if function.parent is None or function.parent.kind != "decorated_definition":
        return False
    decorators = (each for each in function.parent.children if each.kind == "decorator")
    return any(source.of(each) not in _PLAIN_DECORATORS for each in decorators)


def _outside(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.kind in _DEFAULTS and node.field == "value":
        return True
    # The first iterable of a comprehension is evaluated where the comprehension stands.
    if parent.kind != "for_in_clause" or node.field != "right" or parent.parent is None:
        return False
    first = next(each for each in parent.parent.children if each.kind == "for_in_clause")
    return parent.parent.kind in _COMPREHENSIONS and first is parent


PYTHON = Rules(
    functions=frozenset({"function_definition", "lambda"}),
    blocks=_COMPREHENSIONS,
    walls=frozenset({"class_definition"}),
    opaque=False,
    keeping=frozenset(
        {"type", "type_alias_statement", "type_parameter", "import_statement", "dotted_name"}
        | {"import_from_statement", "future_import_statement", "global_statement"}
        | {"nonlocal_statement", "case_pattern"}
    ),
    role=_role,
    outside=_outside,
    reserved=frozenset({"match", "case", "type", "print", "exec", "async", "await", "super"}),
    reflective=frozenset(
        {"eval", "exec", "locals", "vars", "globals", "dir", "_getframe", "currentframe"}
        | {"f_locals", "inspect", "__import__"}
    ),
)
