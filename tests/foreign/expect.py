"""What the checks of `checks.py` and `client.py` share."""

from typing import Any

# A file that goes to Telegram and back.
TEXT_FILE = {"name": "menu.txt", "text": "soup\nfish\n"}


class Wrong(Exception):
    """Something is not as it should be."""


def expect(seen: Any, wanted: Any, what: str) -> None:
    """Compares whole values."""
    if seen != wanted:
        raise Wrong(f"{what}: {shortened(seen)}, but wanted {shortened(wanted)}")


def expect_names(seen: list[str], wanted: set[str]) -> None:
    """Compares names of tools, each of which may stand once."""
    twice = {name for name in seen if seen.count(name) > 1}
    differences = {"missing": wanted - set(seen), "unknown": set(seen) - wanted, "more than once": twice}
    expect({what: sorted(names) for what, names in differences.items() if names}, {}, f"{len(seen)} tools")


def shortened(value: Any) -> str:
    """A value as a text that fits into a log."""
    text = repr(value)
    return text if len(text) < 1500 else f"{text[:1500]}…"
