"""Remakes methods.json, the table of Telegram's Bot API, from the schema in the source package of aiogram (MIT).

A new Bot API version is a change of data: raise AIOGRAM below, run this, then write what the list on stderr asks for
into classes.json and descriptions.json, and run the tests.

    refresh.py                    download the pinned package through pip, rewrite methods.json
    refresh.py --aiogram 3.32.0   the same from another version of the package
    refresh.py --schema PATH      the same from an unpacked schema.json
    refresh.py --check            write nothing; exit code 1 and the differences if methods.json is not up to date

Only facts go into the table: names, types and bounds. Many of them stand in the prose of the schema and are read by
the rules below; the prose itself must never be committed.
"""

import argparse
import html
import json
import math
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AIOGRAM = "3.31.0"
HERE = Path(__file__).resolve().parent
TABLE = HERE / "methods.json"

Json = dict[str, Any]


# What stands in the table instead of what the rules find, each with its reason.
CORRECTIONS: dict[str, Json] = {
    # Its two plain forms stand in a sentence, before the list of types.
    "RichText": {"union": ["String", "Array<RichText>"]},
    # Named as examples, but all that the page knows.
    "VideoQuality.codec": {"one_of": ["h264", "h265", "av01"]},
}

# Every *parse_mode takes these; the page lists them in a chapter of its own.
PARSE_MODES = ["HTML", "MarkdownV2", "Markdown"]
PLAIN_TYPES = {"Integer", "Float", "String", "Boolean", "True"}

PRODUCT = r"\d+(?: \* \d+)*"
RANGE = re.compile(rf"(?<!ISO )\b(\d+) ?- ?({PRODUCT})")
TEXT_RANGE = re.compile(r"\b(\d+)-(\d+) (character|byte)s", re.IGNORECASE)
TEXT_LIMIT = re.compile(r"\b(?:up to|at most) (\d+) (character|byte)s", re.IGNORECASE)
LIMIT = re.compile(r"\b(?:up to|at most) (\d+)\b", re.IGNORECASE)
ONLY_VALUE = re.compile(r'(?:always|must be) "([^"\s]+)"$')
NUMBERS = re.compile(rf"must be one of ((?:{PRODUCT}(?:, or |, | or )?)+)")
OFFER = re.compile(r'\bone of\b|choose one| or "', re.IGNORECASE)
VALUE = re.compile(r'"([^"\s]+)"')
SENTENCE_END = re.compile(r"(?<=[.!])\s+(?=[A-Z])")


def main() -> int:
    """Does what the command line asks for; the result is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--aiogram", default=AIOGRAM, metavar="VERSION", help="instead of the pinned one")
    source.add_argument("--schema", type=Path, metavar="PATH", help="an unpacked schema.json instead of the package")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    args = parser.parse_args()

    schema = json.loads(args.schema.read_bytes() if args.schema else download(args.aiogram))
    table = make_table(schema)
    for line in to_do(table):
        print("to do:", line, file=sys.stderr)
    text = layout(table)
    present = TABLE.read_text(encoding="utf-8") if TABLE.exists() else "{}"
    if text == present:
        print(f"{TABLE.name} is up to date: {summary(table)}")
        return 0
    print("\n".join(differences(json.loads(present), table)) or "only the order or the layout differs")
    if args.check:
        print(f"{TABLE.name} is not up to date, it should be: {summary(table)}")
        return 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE.name} is rewritten: {summary(table)}")
    return 0


def download(version: str) -> bytes:
    """The schema out of the source package, which pip gets from wherever it is set up to get packages."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--quiet", "--no-deps", "--no-binary", "aiogram", "--dest", folder]
        pip = [sys.executable, "-m", "pip", "download", *options, f"aiogram=={version}"]
        if subprocess.run(pip, check=False).returncode != 0:
            sys.exit(f"pip could not get aiogram {version}")
        package = next(Path(folder).glob("aiogram-*.tar.gz"))
        with tarfile.open(package) as archive:
            for file in archive:
                if file.name.endswith("/.butcher/schema/schema.json") and (content := archive.extractfile(file)):
                    return content.read()
    sys.exit(f"{package.name} holds no schema")


def make_table(schema: Json) -> Json:
    """The table for a schema, in the order of Telegram's page."""
    entries = [entry for chapter in schema["items"] for entry in chapter["children"]]
    methods, types = ([e for e in entries if e["category"] == kind] for kind in ("methods", "types"))
    known = PLAIN_TYPES | {entry["name"] for entry in types}
    return {
        "version": schema["api"]["version"],
        "release_date": schema["api"]["release_date"],
        "methods": {m["name"]: {"params": fields(m), "returns": returns(m, known)} for m in methods},
        "types": {t["name"]: type_def(t) for t in types},
    }


def type_def(entry: Json) -> Json:
    """A type: an object with fields, or a union, whose members are a list in its description."""
    name = entry["name"]
    members = re.findall(r"^ - (\w+)$", entry["description"], re.MULTILINE)
    if members and not entry["annotations"]:
        return {"union": CORRECTIONS.get(name, {"union": []})["union"] + members}
    return {"fields": fields(entry)} | ({"upload": True} if name == "InputFile" else {})


def fields(entry: Json) -> list[Json]:
    """The parameters of a method, or the fields of a type."""
    return [field(entry["name"], annotation) for annotation in entry["annotations"]]


def field(owner: str, annotation: Json) -> Json:
    """One parameter or field: what the schema says outright, then what the prose bounds it to."""
    name, kind = annotation["name"], type_expression(annotation["type"])
    facts = CORRECTIONS.get(f"{owner}.{name}")
    if facts is None:
        facts = restrictions(name, kind, plain_text(annotation["html_description"]))
    return {"name": name, "type": kind, "required": annotation["required"]} | facts


def type_expression(text: str) -> str:
    """`Array of A, B and C` as `Array<A|B|C>`, `A or B` as `A|B`."""
    if text.startswith("Array of "):
        return f"Array<{type_expression(text.removeprefix('Array of '))}>"
    return "|".join(re.split(r", and |, or |, | and | or ", text))


def plain_text(markup: str) -> str:
    """HTML as text: an emoji picture as the emoji, every kind of quotes and slanted words as "word"."""
    text = re.sub(r"<em>Optional</em>\. ?", "", markup)
    text = re.sub(r'<img[^>]* alt="([^"]*)"[^>]*>', r"\1", text)
    text = re.sub(r"<br ?/?>", "\n", re.sub(r"</?em>", '"', text))
    text = html.unescape(re.sub(r"<[^>]+>", "", text))
    return re.sub("[“”]", '"', text).strip()


def restrictions(name: str, kind: str, text: str) -> Json:
    """What narrows a value down: one of the four kinds of facts, or nothing."""
    if kind == "String" and (only := ONLY_VALUE.search(text)):
        return {"const": only[1]}
    if kind == "String" and '"attach://' in text:
        return {"attach": True}
    return bounds(kind, text) or choice(name, kind, text)


def bounds(kind: str, text: str) -> Json:
    """`min`, `max` and `unit` from words like 1-100, up to 10, at most 4; fractions are not bounded."""
    if kind == "String":
        return text_bounds(text)
    if kind != "Integer" and not kind.startswith("Array<"):
        return {}
    unit = "value" if kind == "Integer" else "items"
    if ranges := [(int(low), product(high)) for low, high in RANGE.findall(text)]:
        return {"min": min(low for low, _ in ranges), "max": max(high for _, high in ranges), "unit": unit}
    # For a number "at most" speaks of its bits, for a list of lists "up to" speaks of the inner one.
    limit = LIMIT.search(text) if kind.startswith("Array<") and "Array<Array<" not in kind else None
    return {"max": int(limit[1]), "unit": unit} if limit else {}


def text_bounds(text: str) -> Json:
    """The length of a text; one that has only an upper bound may be empty."""
    if found := TEXT_RANGE.search(text):
        low, high, unit = found.groups()
    elif found := TEXT_LIMIT.search(text):
        low, (high, unit) = "0", found.groups()
    else:
        return {}
    return {"min": int(low), "max": int(high), "unit": "bytes" if unit.lower() == "byte" else "chars"}


def choice(name: str, kind: str, text: str) -> Json:
    """`one_of`: the numbers after "must be one of", or the quoted words of a text that offers a choice."""
    if name.endswith("parse_mode"):
        return {"one_of": PARSE_MODES}
    if kind == "Integer":
        numbers = NUMBERS.search(re.sub(r" \([^)]*\)", "", text))
        return {"one_of": [product(number) for number in re.findall(PRODUCT, numbers[1])]} if numbers else {}
    offer = next((s for s in SENTENCE_END.split(text) if OFFER.search(s) and "or example" not in s), "")
    values = list(dict.fromkeys(VALUE.findall(offer)))
    return {"one_of": values} if kind == "String" and len(values) > 1 else {}


def product(text: str) -> int:
    """The value of a number, or of a product like 2 * 86400."""
    return math.prod(int(factor) for factor in text.split("*"))


def returns(entry: Json, known: set[str]) -> str:
    """What a method returns: the types named in the sentences that speak of it."""
    told = " ".join(s for s in SENTENCE_END.split(entry["description"]) if re.search(r"\b[Rr]eturn(s|ed)\b", s))
    words = re.findall(r"(Array of )?\b([A-Z]\w+)", told)
    found = [type_expression(array + word) for array, word in words if word in known]
    if not found:
        sys.exit(f"{entry['name']}: no rule finds what it returns")
    return "|".join(dict.fromkeys(found))


def layout(table: Json) -> str:
    """The text of methods.json: one line per method and per type, so that a change shows well in a diff."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    def lines(entries: Json) -> str:
        return ",\n".join(f"{compact(name)}:{compact(entry)}" for name, entry in entries.items())

    head = compact({key: table[key] for key in ("version", "release_date")})[:-1]
    return f'{head},\n"methods":{{\n{lines(table["methods"])}\n}},\n"types":{{\n{lines(table["types"])}\n}}}}\n'


def summary(table: Json) -> str:
    """The counts, which the tests of the table name too."""
    methods = table["methods"].values()
    parameters = sum(len(method["params"]) for method in methods)
    head = f"Bot API {table['version']} of {table['release_date']}"
    return f"{head}, {len(methods)} methods, {parameters} parameters, {len(table['types'])} types"


def flat(table: Json) -> dict[str, str]:
    """Every fact of a table under a name, as a text that can be compared and shown."""
    facts = {key: str(table.get(key)) for key in ("version", "release_date")}
    for name, entry in (table.get("methods", {}) | table.get("types", {})).items():
        facts[name] = " ".join(f"{key} {value}" for key, value in entry.items() if key not in ("params", "fields"))
        for part in entry.get("params", []) + entry.get("fields", []):
            facts[f"{name}.{part['name']}"] = json.dumps(part, ensure_ascii=False)
    return facts


def differences(old: Json, new: Json) -> list[str]:
    """What a person wants to read about two tables: what is gone, what is new, what is not as it was."""
    before, after = flat(old), flat(new)
    gone = [f"- {name}" for name in before if name not in after]
    added = [f"+ {name}  {value}" for name, value in after.items() if name not in before]
    changed = [name for name, value in after.items() if before.get(name, value) != value]
    return gone + added + [f"~ {name}\n    was {before[name]}\n    now {after[name]}" for name in changed]


def to_do(table: Json) -> Iterator[str]:
    """What the files written by hand lack or hold in vain, and corrections that have nothing to correct."""
    methods, types = table["methods"], table["types"]
    classes = json.loads((HERE / "classes.json").read_bytes())["methods"]
    lines = json.loads((HERE / "descriptions.json").read_bytes())
    yield from (f"classes.json lacks {name}" for name in methods if name not in classes)
    yield from (f"classes.json has {name}, which is no method" for name in classes if name not in methods)
    yield from (f"descriptions.json has {name}, which is no method" for name in lines["methods"].keys() - methods)
    for name, method in methods.items():
        own = lines["methods"].get(name)
        if own is None:
            yield f"descriptions.json lacks {name}"
        told = lines["parameters"].keys() | (own or {}).get("parameters", {}).keys()
        yield from (f"descriptions.json lacks {name}.{p['name']}" for p in method["params"] if p["name"] not in told)
    for name in sent_types(table):
        told = lines["fields"].keys() | lines["types"].get(name, {}).keys()
        untold = [f["name"] for f in types[name].get("fields", []) if "const" not in f and f["name"] not in told]
        yield from (f"descriptions.json lacks {name}.{field_name}" for field_name in untold)
    yield from (f"the correction of {name} has no object" for name in CORRECTIONS if name not in flat(table))


def sent_types(table: Json) -> list[str]:
    """The types a call can carry; what only Telegram sends needs no description."""
    kinds = [param["type"] for method in table["methods"].values() for param in method["params"]]
    found: dict[str, None] = {}
    while kinds:
        for name in re.findall(r"\w+", kinds.pop()):
            if name in table["types"] and name not in found:
                found[name] = None
                entry = table["types"][name]
                kinds += entry.get("union", []) + [f["type"] for f in entry.get("fields", [])]
    return [name for name in table["types"] if name in found]


if __name__ == "__main__":
    sys.exit(main())
