"""The defects of doc comments: a public declaration without one, a list of parameters that is written as a sentence,
and names of parameters that the declaration doesn't have.

DocC checks only the module that has a catalogue, and renders a list that is a sentence as it is.
"""

import json
import re

# A list is rendered as one only if each parameter is on a line of its own below `- Parameters:`.
SENTENCE = re.compile(r"^\s*///\s*- Parameters:\s*\S|^\s*///\s*- (?:Parameter )?\w+: .* - \w+: ")
LIST = re.compile(r"^\s*- Parameters:")
ENTRY = re.compile(r"^\s*- (\w+):")
SINGLE = re.compile(r"^\s*- Parameter (\w+):")


def sentences(text):
    """Yields the number of each line of a Swift file that begins a list of parameters as a sentence."""
    for number, line in enumerate(text.split("\n"), start=1):
        if SENTENCE.match(line):
            yield number


def documented(lines):
    """Yields the index of each line of a comment that documents a parameter, and the parameter's name."""
    indent = None
    for index, line in enumerate(lines):
        depth = len(line) - len(line.lstrip())
        if match := SINGLE.match(line):
            indent = None
            yield index, match.group(1)
        elif LIST.match(line):
            indent = depth
        elif indent is not None and line.strip():
            if depth <= indent:
                indent = None
            elif match := ENTRY.match(line):
                yield index, match.group(1)


def parameters(symbol):
    """Returns the names of a declaration's parameters or associated values, outside and inside of it."""
    names = {fragment["spelling"] for fragment in symbol.get("declarationFragments", [])
             if fragment["kind"] in ("internalParam", "externalParam")}
    for parameter in symbol.get("functionSignature", {}).get("parameters", []):
        names |= {parameter["name"], parameter.get("internalName", parameter["name"])}
    return names


def problems(graphs):
    """Yields what is wrong with the doc comments in symbol graphs."""
    count = 0
    for symbol in (symbol for graph in graphs for symbol in graph["symbols"]):
        count += 1
        name = ".".join(symbol["pathComponents"])
        place = symbol.get("location", {})
        path = "Sources/" + place.get("uri", "").removeprefix("file://").partition("/Sources/")[2]
        lines = symbol.get("docComment", {}).get("lines")
        if not lines:
            yield f"{path}:{place.get('position', {}).get('line', 0) + 1}: {name} has no doc comment"
            continue
        # The lines of a comment that comes from a protocol of another module have no place.
        if "range" not in lines[0]:
            continue
        known = parameters(symbol)
        for index, parameter in documented([line["text"] for line in lines]):
            if parameter not in known:
                number = lines[index]["range"]["start"]["line"] + 1
                yield (f"{path}:{number}: {name} has no parameter {parameter}; it has "
                       f"{', '.join(sorted(known - {'_'})) or 'none'}")
    if count < 100:
        yield f"only {count} public declarations were found; check the list of modules"


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
