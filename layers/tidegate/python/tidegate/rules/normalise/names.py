"""Which names in a text are local variables and nothing else, so that they may be changed.

The rule is by name: one occurrence that is anything else keeps the name everywhere. So a change
is one bijection over the text, and shadowing needs no care.
"""

from __future__ import annotations

import re
import unicodedata

from tidegate.rules.normalise.comments import directive, whole_file
from tidegate.rules.normalise.languages import GRAMMARS
from tidegate.rules.normalise.names_go import GO
from tidegate.rules.normalise.names_java import JAVA
from tidegate.rules.normalise.names_python import PYTHON
from tidegate.rules.normalise.names_script import SCRIPT
from tidegate.rules.normalise.scopes import Binds, Rules, Scope
from tidegate.rules.normalise.syntax import Node, Source

_RULES = {
    "python": PYTHON,
    "javascript": SCRIPT,
    "typescript": SCRIPT,
    "tsx": SCRIPT,
    "java": JAVA,
    "go": GO,
}
_PLAIN = re.compile(r"(?!__)(?!_$)[A-Za-z_$][A-Za-z0-9_$]*")


def words(text: str) -> set[str]:
    """Return every word in a text that could be meant as a name, read in several ways."""
    found = set(re.findall(r"\w+", text))
    if "$" in text:
        found.update(re.findall(r"[\w$]+", text))
    if "\\" in text:
        found.update(re.findall(r"\w+", re.sub(r"\\.", " ", text)))
    return found


def local_names(source: Source, *, ignore_comments: bool) -> dict[str, list[int]]:
    """Return the names that may be changed, by first appearance, with the first bytes of each."""
    survey = _Survey(source, _RULES[source.grammar], ignore_comments)
    for node, begins in source.walk():
        survey.take(node, begins)
    return survey.result()


class _Survey:
    def __init__(self, source: Source, rules: Rules, ignore_comments: bool) -> None:
        self._source = source
        self._rules = rules
        self._literals = GRAMMARS[source.grammar].literals
        self._comments = GRAMMARS[source.grammar].comments
        self._mute = ignore_comments and not whole_file(source.text.decode(), source.grammar)
        self._scopes: list[tuple[Node, Scope]] = [(source.root, Scope(source.root, None, rules))]
        self._keeping = 0
        self._kept: set[str] = set(rules.reserved)
        self._places: dict[str, list[int]] = {}
        self._uses: list[tuple[str, int, Scope]] = []
        self._reflective = False

    def take(self, node: Node, begins: bool) -> None:
        if not begins:
            self._keeping -= node.kind in self._rules.keeping
            while len(self._scopes) > 1 and self._scopes[-1][0] is node:
                self._scopes.pop()
        elif node.kind in self._comments:
            text = self._source.of(node)
            if not self._mute or directive(text):
                self._kept |= words(text)
        elif node.children:
            self._enter(node)
        elif node.kind == "identifier":
            self._name(node)
        else:
            text = self._source.of(node)
            # A keyword, a type, an attribute; or a literal, which may mention anything.
            found = words(text)
            self._kept |= found
            if node.kind not in self._literals:
                self._reflective |= not self._rules.reflective.isdisjoint(found)

    def _enter(self, node: Node) -> None:
        rules = self._rules
        self._keeping += node.kind in rules.keeping
        around = self._scopes[-1][1]
        if rules.outside(node) and around.outer is not None:
            self._scopes.append((node, around.outer))
        if node.kind in rules.functions | rules.blocks | rules.walls and node.parent is not None:
            self._scopes.append((node, Scope(node, self._scopes[-1][1], rules)))

    def _name(self, node: Node) -> None:
        name = self._source.of(node)
        scope = self._scopes[-1][1]
        if self._rules.outside(node) and scope.outer is not None:
            scope = scope.outer
        if not name.isascii():
            self._kept.add(unicodedata.normalize("NFKC", name))
        self._reflective |= name in self._rules.reflective or "\\" in name
        self._places.setdefault(name, []).append(node.start)
        role = "keeps" if self._keeping else self._rules.role(node, self._source)
        if role == "uses":
            self._uses.append((name, node.start, scope))
        elif not isinstance(role, Binds) or not scope.declare(name, role):
            self._kept.add(name)

    def result(self) -> dict[str, list[int]]:
        if self._reflective:
            return {}
        for name, at, scope in self._uses:
            if name not in self._kept and not scope.knows(name, at):
                self._kept.add(name)
        return {
            name: places
            for name, places in self._places.items()
            if name not in self._kept and _PLAIN.fullmatch(name)
        }
