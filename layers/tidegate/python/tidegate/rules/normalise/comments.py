"""Which comments mean something to a tool, and so are never dropped."""

from __future__ import annotations

import re

_WORDS = r"""
    noqa | nosec | nosemgrep | pragma | pylint | pyright | pyre | pytype | mypy | ruff | flake8
  | isort | yapf | fmt | black | autopep8 | pycodestyle | coding | vim | cython | distutils
  | language | doctest | type: | sphinx | magic | command
  | eslint | jshint | jslint | jscs | tslint | standard | prettier | biome | dprint | deno | rome
  | oxlint | istanbul | c8 | v8 | vitest | jest | webpack | vite | turbopack | globals? | exported
  | sourcemappingurl | sourceurl | __pure__ | __no_side_effects__ | __inline__ | flow | jsx
  | type-coverage | ts-
  | nolint | lint: | go: | \+build | build | export | extern | line | cgo | output: | unordered
  | deprecated | generated | do\ not\ edit | license | preserve | copyright
  | nosonar | noinspection | checkstyle | pmd | cpd | spotbugs | findbugs | spotless | formatter
  | nopmd | suppresswarnings | suppress | non-nls | gcov | lcov | region | endregion
  | falls?[ -]?through | fallthru | no\ break
"""
_DIRECTIVE = re.compile(rf"(?<![a-z0-9_])(?:{_WORDS})", re.IGNORECASE | re.VERBOSE)

_SHAPE = re.compile(
    r"\#!"  # shebang
    r"|\#\s*(?:%|///|In\[|!)"  # a notebook's cells, a script's metadata
    r"|//[#@$:]|/\*[!:#@$]|/\*\s*::?"  # source maps, //$NON-NLS, kept by minifiers, types of flow
    r"|///\s*<"
    r"|//\S*:\S"  # //go:embed and its kind
    r"|//(?:export|extern|line|sys)\b"
)

_TAG = re.compile(r"(?:^|[\s*/#!])[@$]\w", re.MULTILINE)
"""`@ts-ignore`, `@jsx`, `@flow`, `@deprecated`, and the types that JSDoc gives."""

_ESCAPE = re.compile(r"\\u+[0-9a-fA-F]")
"""To Java this is the character itself, which may end the comment."""

_LANGUAGE_OF = re.compile(r"\s*(?:html|css|sql|graphql|gql|glsl|wgsl|json|xml)\s*", re.IGNORECASE)
"""Before a template literal, what it is written in."""


def directive(comment: str) -> bool:
    """Return whether a comment speaks to a tool; when in doubt it does."""
    return bool(
        _SHAPE.match(comment)
        or _DIRECTIVE.search(comment)
        or _TAG.search(comment)
        or _ESCAPE.search(comment)
        or _LANGUAGE_OF.fullmatch(comment.strip("/*#"))
    )


def whole_file(code: str, grammar: str) -> bool:
    """Return whether all comments of a text mean something: cgo's preamble, a script's metadata."""
    if grammar == "go":
        return '"C"' in code or "`C`" in code
    return grammar == "python" and re.search(r"^# ///", code, re.MULTILINE) is not None
