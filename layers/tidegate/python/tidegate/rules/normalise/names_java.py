"""Names in Java."""

from __future__ import annotations

from tidegate.rules.normalise.languages import each
from tidegate.rules.normalise.scopes import Binds, Role, Rules
from tidegate.rules.normalise.syntax import Node, Source

_METHODS = frozenset({"method_declaration", "constructor_declaration"})
_PLAIN_ANNOTATIONS = frozenset({"@Override", "@SafeVarargs", "@Deprecated"})
_DECLARED = frozenset(
    {"formal_parameter", "catch_formal_parameter", "resource", "enhanced_for_statement"}
)
_LABELS = frozenset({"labeled_statement", "break_statement", "continue_statement"})


def _role(node: Node, source: Source) -> Role:
    parent = node.parent
    if parent is None:
        return "keeps"
    kind = parent.kind
    if kind == "lambda_expression" and node.field == "parameters":
        return Binds("inner")
    if kind == "inferred_parameters":
        return Binds("inner")
    if kind in _DECLARED and node.field == "name":
        return "keeps" if _named_by_others(parent, source) else Binds("inner", node.start)
    if kind == "variable_declarator" and node.field == "name":
        return _variable(node, parent, source)
    if kind in _LABELS or node.field in {"name", "field", "key"}:
        return "keeps"
    return "uses"


def _variable(node: Node, declarator: Node, source: Source) -> Role:
    of = declarator.parent
    if of is None:
        return "keeps"
    if of.kind == "local_variable_declaration":
        return Binds("inner", node.start)
    if of.kind == "spread_parameter" and not _named_by_others(of, source):
        return Binds("inner", node.start)
    return "keeps"


def _named_by_others(parameter: Node, source: Source) -> bool:
    """Return whether a parameter's name may be read by a framework, or is a record's member."""
    if parameter.parent is None or parameter.parent.kind != "formal_parameters":
        return False
    method = parameter.parent.parent
    if method is None or method.kind not in _METHODS | {"lambda_expression"}:
        return True
    return any(
        each.kind in {"annotation", "marker_annotation"}
        and source.of(each) not in _PLAIN_ANNOTATIONS
        for owner in (parameter, method)
        for modifiers in owner.children
        if modifiers.kind == "modifiers"
        for each in modifiers.children
    )


JAVA = Rules(
    functions=_METHODS | {"lambda_expression", "compact_constructor_declaration"},
    blocks=frozenset(
        {"block", "constructor_body", "for_statement", "enhanced_for_statement", "catch_clause"}
        | {"try_with_resources_statement", "switch_block", "switch_rule"}
    ),
    walls=frozenset(
        {"class_body", "interface_body", "enum_body", "annotation_type_body"}
        | {"enum_body_declarations"}
    ),
    opaque=True,
    keeping=frozenset(
        {"import_declaration", "package_declaration", "module_declaration", "annotation"}
        | {"marker_annotation", "scoped_identifier", "scoped_type_identifier", "switch_label"}
        | {"method_reference", "record_pattern", "type_pattern", "receiver_parameter"}
    ),
    role=_role,
    reserved=each(
        "exports module open opens permits provides record requires sealed to transitive uses var "
        "when with yield"
    ),
)
