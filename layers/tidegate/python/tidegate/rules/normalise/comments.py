"""Which comments mean something to a tool, and so are never dropped."""

from __future__ import annotations

import re

_ANYWHERE = re.compile(
    r"""(?<![a-z0-9_])(?:
        noqa | nosec | nosemgrep | pragma | pylint | pyright | pytype | mypy | flake8 | isort | yapf
      | autopep8 | pycodestyle | coding\s*[:=] | type: | doctest:
      | eslint | jshint | jslint | jscs | tslint | prettier | dprint | oxlint | istanbul
      | (?:biome|deno|rome|c8|v8|vite|jest|vitest|coverage)[\s-]*(?:lint|fmt|ignore|environment)
      | webpack\w*: | turbopack\w*: | sourcemappingurl | sourceurl | ts-[a-z]
      | __pure__ | __no_side_effects__ | __inline__ | __noinline__ | __key__
      | nolint | nosonar | noinspection | nopmd | checkstyle | spotbugs | findbugs
      | suppresswarnings | non-nls | gcov | lcov | codeql | lgtm | skipcq | deprecated:
      | code\ generated | do\ not\ edit | falls?[ -]?through | fallthru | no\ break
    )""",
    re.IGNORECASE | re.VERBOSE,
)

_AT_START = re.compile(
    r"""^[\s/*\#!]*(?:
        pyre- | ruff: | fmt: | black: | vim?: | ex: | emacs | cython: | distutils: | standard:
      | language\s*[=:] | magic\s+% | command\s+-- | globals?\b | exported\b | suppress
      | \+build\b | cgo\b | lint: | (?:unordered\ )?output: | generated\b
      | licen[cs]e | preserve\b | copyright\b | pmd | cpd- | spotless: | formatter:
    )""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

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
        or _ANYWHERE.search(comment)
        or _AT_START.search(comment)
        or _TAG.search(comment)
        or _ESCAPE.search(comment)
        or _LANGUAGE_OF.fullmatch(comment.strip("/*#"))
    )


def whole_file(code: str, grammar: str) -> bool:
    """Return whether all comments of a text mean something: cgo's preamble, a script's metadata."""
    if grammar == "go":
        return '"C"' in code or "`C`" in code
    return grammar == "python" and re.search(r"^# ///", code, re.MULTILINE) is not None
