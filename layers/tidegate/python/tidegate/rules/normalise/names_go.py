"""Names in Go."""

from __future__ import annotations

from tidegate.rules.normalise.scopes import Binds, Role, Rules
from tidegate.rules.normalise.syntax import Node, Source

_FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
_PARAMETERS = frozenset({"parameter_declaration", "variadic_parameter_declaration"})


def _role(node: Node, source: Source) -> Role:
    parent = node.parent
    if parent is None:
        return "keeps"
    if parent.kind in _PARAMETERS and node.field == "name":
        of = None if parent.parent is None else parent.parent.parent
        return Binds("inner") if of is not None and of.kind in _FUNCTIONS else "keeps"
    if parent.kind in {"var_spec", "const_spec"} and node.field == "name":
        return Binds("inner", parent.end)
    if parent.kind == "expression_list" and parent.parent is not None:
        return _in_list(parent, parent.parent, source)
    if _is_key(node) or node.field == "name":
        return "keeps"
    return "uses"


def _in_list(names: Node, of: Node, source: Source) -> Role:
    """Return the role of a name in a list; what `:=` declares counts from the end of its clause."""
    if names.field == "left":
        if of.kind == "short_var_declaration":
            return Binds("inner", of.end)
        if of.kind in {"range_clause", "receive_statement"}:
            declares = any(source.of(each) == ":=" for each in of.children if not each.named)
            return Binds("inner", of.end) if declares else "uses"
    if names.field == "alias" and of.kind == "type_switch_statement":
        brace = next((each for each in of.children if each.kind == "{"), of)
        return Binds("inner", brace.start)
    return "uses"


def _is_key(node: Node) -> bool:
    """Return whether a name is the key in a composite literal: a field, or a variable."""
    at = node
    while at.parent is not None and at.parent.kind == "literal_element":
        at = at.parent
    of = at.parent
    return of is not None and of.kind == "keyed_element" and at is of.children[0]


GO = Rules(
    functions=_FUNCTIONS,
    blocks=frozenset(
        {"block", "if_statement", "for_statement", "expression_switch_statement"}
        | {"type_switch_statement", "select_statement", "expression_case", "default_case"}
        | {"type_case", "communication_case"}
    ),
    walls=frozenset(),
    opaque=False,
    keeping=frozenset(
        {"import_declaration", "package_clause", "function_type", "interface_type", "struct_type"}
        | {"type_declaration", "type_parameter_list", "type_arguments", "qualified_type"}
    ),
    role=_role,
    reserved=frozenset({"iota", "nil", "true", "false", "init", "main"}),
)
