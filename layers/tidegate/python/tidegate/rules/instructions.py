"""What a model is told before the partner's own words: instructions, safety profile, locale."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.rules.catalogue import Entry


class Told(NamedTuple):
    """The choices of a request as the catalogue spells them, and the text they come to."""

    locale: str | None
    safety_profile: str | None
    system: str | None
    """None: the model is told nothing."""


def problems(entry: Entry, locale: str | None, safety_profile: str | None) -> list[tuple[str, str]]:
    """Return what an entry does not allow of the two, as JSON pointers and reasons."""
    found = []
    if locale is not None and _spelt(entry, locale) is None:
        allowed = "must be one of " + ", ".join(entry.locales)
        found.append(("/locale", allowed if entry.locales else "this model takes no locale"))
    if safety_profile is not None and safety_profile not in entry.safety_profiles:
        allowed = "must be one of " + ", ".join(sorted(entry.safety_profiles))
        none = "this model has no safety profiles"
        found.append(("/safety_profile", allowed if entry.safety_profiles else none))
    return found


def told(entry: Entry, locale: str | None, safety_profile: str | None) -> Told:
    """Return what the model is told, for choices without `problems`; defaults are in place."""
    locale = None if locale is None else _spelt(entry, locale)
    profile = safety_profile or entry.default_safety_profile
    parts = (
        entry.system,
        entry.safety_profiles[profile] if profile else None,
        f"Answer in the language and conventions of the locale {locale}." if locale else None,
    )
    return Told(locale, profile, "\n\n".join(part for part in parts if part) or None)


def _spelt(entry: Entry, locale: str) -> str | None:
    """Return a locale as the catalogue spells it; case says nothing there (RFC 5646, 2.1.1)."""
    return next((each for each in entry.locales if each.lower() == locale.lower()), None)
