"""The targets that Package.swift declares.

`swift package dump-package` compiles the manifest, which takes seconds. The manifest of this package lists each
target with literal names only, and this module refuses anything else. What a loop of the manifest adds is left out.
"""

import re

TARGET = re.compile(r'\.(target|executableTarget|testTarget|systemLibrary)\(\s*name: "([^"]+)"')
DEPENDENCIES = re.compile(r"\bdependencies: *\[([^\]]*)\]")


def targets(text):
    """Returns the names of the dependencies of each target, from the text of Package.swift."""
    text = re.sub(r"^\s*//.*", "", text, flags=re.MULTILINE)
    start = text.index("\nlet targets: [Target] = [")
    text = text[start : text.index("\n]\n", start)]
    found = list(TARGET.finditer(text))
    if len(found) != len(re.findall(r"^    \.\w+\(", text, flags=re.MULTILINE)):
        raise ValueError("Package.swift: a target doesn't begin with its literal name")
    result = {}
    for target, end in zip(found, [after.start() for after in found[1:]] + [len(text)]):
        declaration = text[target.end() : end]
        lists = DEPENDENCIES.findall(declaration)
        if len(lists) != declaration.count("dependencies:") or len(lists) > 1:
            raise ValueError(f"Package.swift: the dependencies of {target.group(2)} are not one literal list")
        names = re.findall(r'"([^"]+)"', lists[0]) if lists else []
        if lists and re.sub(r'"[^"]+"|[\s,]', "", lists[0]):
            raise ValueError(f"Package.swift: the dependencies of {target.group(2)} are not names alone")
        result[target.group(2)] = names
    return result
