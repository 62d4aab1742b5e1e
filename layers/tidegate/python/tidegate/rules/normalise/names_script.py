"""Names in JavaScript and TypeScript."""

from __future__ import annotations

from tidegate.rules.normalise.languages import each
from tidegate.rules.normalise.scopes import Binds, Role, Rules
from tidegate.rules.normalise.syntax import Node, Source

_FUNCTIONS = frozenset(
    {"function_declaration", "function_expression", "generator_function", "arrow_function"}
    | {"generator_function_declaration", "method_definition"}
)
_PATTERNS = frozenset({"array_pattern", "rest_pattern", "object_pattern"})
_PARTS = frozenset({("assignment_pattern", "left"), ("pair_pattern", "value")})
_TYPED = frozenset({"required_parameter", "optional_parameter"})
_PROPERTY = frozenset({"accessibility_modifier", "override_modifier", "readonly", "decorator"})

_NAMED = _FUNCTIONS | {
    "class_declaration", "abstract_class_declaration", "class", "enum_declaration", "module",
    "internal_module", "function_signature", "index_signature",
}  # fmt: skip


def _role(node: Node, source: Source) -> Role:
    parent = node.parent
    if parent is None or (parent.kind in _NAMED and node.field in {"name", "label"}):
        return "keeps"
    if parent.kind == "arrow_function" and node.field == "parameter":
        return Binds("inner")
    top = node
    while top.parent is not None and (
        top.parent.kind in _PATTERNS or (top.parent.kind, top.field) in _PARTS
    ):
        top = top.parent
    holder = top.parent
    if holder is None:
        return "keeps"
    if holder.kind in _TYPED and top.field == "pattern":
        # With a modifier TypeScript makes a property of it.
        plain = not any(part.kind in _PROPERTY for part in holder.children)
        return _parameter(holder.parent) if plain else "keeps"
    if holder.kind == "formal_parameters":
        return _parameter(holder)
    return _variable(top, holder, source)


def _parameter(parameters: Node | None) -> Role:
    """Return the role of a name in a list of parameters: a type or a signature declares none."""
    of = None if parameters is None else parameters.parent
    return Binds("inner") if of is not None and of.kind in _FUNCTIONS else "keeps"


def _variable(target: Node, holder: Node, source: Source) -> Role:
    """Return the role of a name in a pattern: declared there, or only used."""
    if holder.kind == "variable_declarator" and target.field == "name":
        declaration = holder.parent
        hoisted = declaration is not None and declaration.kind == "variable_declaration"
        return Binds("body" if hoisted else "inner")
    if holder.kind == "catch_clause" and target.field == "parameter":
        return Binds("inner")
    kind = holder.child("kind")
    if holder.kind == "for_in_statement" and target.field == "left" and kind is not None:
        return Binds("body" if source.of(kind) == "var" else "inner")
    return "uses"


SCRIPT = Rules(
    functions=_FUNCTIONS,
    blocks=frozenset(
        {"statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body"}
    ),
    walls=frozenset({"class_static_block", "internal_module", "module"}),
    opaque=False,
    keeping=frozenset(
        {"import_statement", "export_clause", "namespace_export", "import_alias"}
        | {"jsx_self_closing_element", "jsx_opening_element", "nested_identifier"}
        | {"type_annotation", "type_arguments", "type_parameters", "type_alias_declaration"}
        | {"interface_declaration", "enum_declaration", "ambient_declaration", "object_type"}
        | {"function_type", "constructor_type", "type_query", "type_predicate", "asserts"}
        | {"type_predicate_annotation", "asserts_annotation", "implements_clause"}
        | {"extends_type_clause", "method_signature", "abstract_method_signature"}
        | {"function_signature", "index_signature", "nested_type_identifier", "generic_type"}
    ),
    role=_role,
    reserved=each(
        "abstract accessor any arguments as asserts async await boolean constructor declare from "
        "get global implements infer interface is keyof let module namespace never number object "
        "of out override package private protected public readonly require satisfies set static "
        "string symbol target type undefined unique unknown using yield NaN Infinity"
    ),
    reflective=frozenset({"eval", "Function", "with"}),
)
