"""What the languages' rules of scope have in common: what a name does where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tidegate.rules.normalise.syntax import Node, Source


@dataclass(frozen=True, slots=True)
class Binds:
    """The name is declared here: a parameter or a variable."""

    of: Literal["inner", "function", "body"]
    """The innermost scope, the function's, or that of the function's body (`var`)."""
    since: int = 0
    """First byte at which the declaration counts."""


Role = Binds | Literal["uses", "keeps"]
"""`keeps`: the name is an attribute, an import, a type, … and may not change anywhere."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The scopes of one language, in its grammar's names of nodes."""

    functions: frozenset[str]
    blocks: frozenset[str]
    walls: frozenset[str]
    """Class bodies and the like: what is declared in them is no local variable."""
    opaque: bool
    """Whether a name within a wall may mean something inherited instead of a local outside."""
    keeping: frozenset[str]
    """Nodes below which every name is kept."""
    role: Callable[[Node, Source], Role]
    outside: Callable[[Node], bool] = lambda _node: False
    """Whether a node within a scope is evaluated outside of it: a default, a first iterable."""
    reserved: frozenset[str] = frozenset()
    """Names that are never changed: words that are keywords in some places."""
    reflective: frozenset[str] = frozenset()
    """Words after which no name is safe, as code can look variables up by name."""


class Scope:
    """What is declared in one scope, by name, with the byte from which it counts."""

    __slots__ = ("body", "function", "local", "names", "node", "opaque", "outer")

    def __init__(self, node: Node, outer: Scope | None, rules: Rules) -> None:
        self.node = node
        self.outer = outer
        self.names: dict[str, int] = {}
        self.function = node.kind in rules.functions
        wall = outer is None or node.kind in rules.walls
        self.opaque = wall and rules.opaque
        self.local: bool = self.function or (outer is not None and not wall and outer.local)
        self.body = outer is not None and outer.function and node.parent is outer.node

    def declare(self, name: str, binds: Binds) -> bool:
        """Note a declaration; return whether it is of a local variable."""
        scope: Scope | None = self
        if binds.of != "inner":
            while scope is not None and scope.local:
                if scope.function if binds.of == "function" else scope.body:
                    break
                scope = scope.outer
        if scope is None or not scope.local:
            return False
        scope.names[name] = min(scope.names.get(name, binds.since), binds.since)
        return True

    def knows(self, name: str, at: int) -> bool:
        """Return whether a name used at a byte is a local variable of this scope or one around."""
        scope: Scope | None = self
        while scope is not None:
            since = scope.names.get(name)
            if since is not None and since <= at:
                return True
            if scope.opaque:
                return False
            scope = scope.outer
        return False
