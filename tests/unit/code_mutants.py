"""Changes of meaning, one at a time, made in Python's own syntax tree."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

OPERATORS: list[Any] = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.BitOr, ast.LShift]
COMPARISONS: list[Any] = [ast.Eq, ast.NotEq, ast.Lt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn]


def all_of(tree: ast.AST, kind: Any) -> list[Any]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def literal(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice(all_of(tree, ast.Constant))
    if isinstance(node.value, bool) or node.value is None:
        node.value = not node.value
    elif isinstance(node.value, str):
        at = chance.randrange(len(node.value) + 1)
        node.value = node.value[:at] + chance.choice(["x", " ", "#", "\n"]) + node.value[at:]
    elif isinstance(node.value, bytes):
        node.value += b" "
    elif node.value is not ...:
        node.value += 1


def number_form(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice([n for n in all_of(tree, ast.Constant) if type(n.value) is int])
    node.value = float(node.value)


def operator(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice(all_of(tree, (ast.BinOp, ast.AugAssign, ast.BoolOp, ast.Compare)))
    if isinstance(node, ast.Compare):
        node.ops[0] = chance.choice(COMPARISONS)()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    else:
        node.op = chance.choice(OPERATORS)()


def swapped_operands(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice(all_of(tree, ast.BinOp))
    node.left, node.right = node.right, node.left


def another_variable(tree: ast.AST, chance: random.Random) -> None:
    names = [node for node in all_of(tree, ast.Name) if isinstance(node.ctx, ast.Load)]
    chance.choice(names).id = chance.choice([node.id for node in all_of(tree, ast.Name)])


def swapped_variables(tree: ast.AST, chance: random.Random) -> None:
    one, other = chance.sample(all_of(tree, ast.Name), 2)
    if isinstance(one.ctx, ast.Load) and isinstance(other.ctx, ast.Load):
        one.id, other.id = other.id, one.id


def attribute(tree: ast.AST, chance: random.Random) -> None:
    chance.choice(all_of(tree, ast.Attribute)).attr += "s"


def keyword(tree: ast.AST, chance: random.Random) -> None:
    chance.choice([node for node in all_of(tree, ast.keyword) if node.arg]).arg += "s"


def deleted_statement(tree: ast.AST, chance: random.Random) -> None:
    body = chance.choice([each for each in bodies(tree) if len(each) > 1])
    del body[chance.randrange(len(body))]


def exchanged_statements(tree: ast.AST, chance: random.Random) -> None:
    body = chance.choice([each for each in bodies(tree) if len(each) > 1])
    at = chance.randrange(len(body) - 1)
    body[at], body[at + 1] = body[at + 1], body[at]


def indentation(tree: ast.AST, chance: random.Random) -> None:
    """Move a block's last statement out of it, or the statement after it in."""
    spots = [
        (body, at, inner)
        for body in bodies(tree)
        for at, statement in enumerate(body)
        for inner in bodies(statement)
        if inner and inner is not body and inner[0] in ast.iter_child_nodes(statement)
    ]
    body, at, inner = chance.choice(spots)
    if len(inner) > 1 and chance.random() < 0.5:
        body.insert(at + 1, inner.pop())
    elif at + 1 < len(body):
        inner.append(body.pop(at + 1))


def default(tree: ast.AST, chance: random.Random) -> None:
    arguments = chance.choice([node for node in all_of(tree, ast.arguments) if node.defaults])
    if chance.random() < 0.5:
        arguments.defaults[0] = ast.Constant(value=chance.choice([7, "seven", None]))
    else:
        del arguments.defaults[0]


def kind_of_parameter(tree: ast.AST, chance: random.Random) -> None:
    arguments = chance.choice([node for node in all_of(tree, ast.arguments) if node.args])
    if not arguments.defaults:
        arguments.posonlyargs.append(arguments.args.pop(0))


def negated(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice(all_of(tree, (ast.If, ast.While, ast.IfExp)))
    node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)


def exchanged_arguments(tree: ast.AST, chance: random.Random) -> None:
    node = chance.choice([each for each in all_of(tree, ast.Call) if len(each.args) > 1])
    node.args.reverse()


def jump(tree: ast.AST, chance: random.Random) -> None:
    body = chance.choice([each for each in bodies(tree) if isinstance(each[-1:], list) and each])
    if isinstance(body[-1], ast.Break | ast.Continue | ast.Pass):
        body[-1] = ast.Continue() if isinstance(body[-1], ast.Break) else ast.Break()
    elif isinstance(body[-1], ast.Return):
        body[-1].value = None


MUTATIONS: list[Callable[[ast.AST, random.Random], None]] = [
    literal, number_form, operator, swapped_operands, another_variable, swapped_variables,
    attribute, keyword, deleted_statement, exchanged_statements, indentation, default,
    kind_of_parameter, negated, exchanged_arguments, jump,
]  # fmt: skip


def mutant(tree: ast.AST, chance: random.Random) -> tuple[str, str] | None:
    """Return the name of a mutation and the text it makes; None if it made no other program."""
    mutation = chance.choice(MUTATIONS)
    changed = copy.deepcopy(tree)
    try:
        mutation(changed, chance)
    except (IndexError, ValueError):
        return None  # nothing in it to change so
    made = ast.unparse(ast.fix_missing_locations(changed))
    try:
        same = ast.dump(ast.parse(made)) == ast.dump(ast.parse(ast.unparse(tree)))
    except SyntaxError:
        return mutation.__name__, made
    return None if same else (mutation.__name__, made)
