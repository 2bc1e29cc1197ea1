"""Writes each ```swift block of Markdown files into a separate file that compiles.

Imports stay at the top; the rest goes into a function that may await and throw, unless it contains declarations that
are only allowed at file level. Compiler messages refer to the page and its line.
"""

import collections
import os
import re

BLOCK = re.compile(r"^( *)```swift *\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
# Declarations that are not allowed in a function.
FILE_LEVEL = re.compile(r"^(@main|(public )?(extension|protocol|actor)\b)", re.MULTILINE)


def write(pages, folder):
    """Returns lists of the written files. The files of a list compile together: they import the same modules, so that
    none sees what only another one imports, and all of their declarations are in functions."""
    groups = collections.defaultdict(list)
    count = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for block in BLOCK.finditer(text):
            indent, code = block.groups()
            lines = [line.removeprefix(indent) for line in code.split("\n")]
            is_import = [line.startswith("import ") for line in lines]
            first = text.count("\n", 0, block.start(2)) + 1
            location = f'#sourceLocation(file: "{os.path.abspath(page)}", line: {first})'
            imports = {line for line, flag in zip(lines, is_import) if flag} | {"import IndoorLocalization"}
            rest = "\n".join("" if flag else line for line, flag in zip(lines, is_import))
            count += 1
            if FILE_LEVEL.search(code):
                group = count
                rest = f"{location}\n{rest}\n#sourceLocation()"
            else:
                group = frozenset(imports)
                rest = f"func snippet{count}() async throws {{\n{location}\n{rest}\n#sourceLocation()\n}}"
            path = os.path.join(folder, f"snippet{count}.swift")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(sorted(imports)) + "\n" + rest + "\n")
            groups[group].append(path)
    return list(groups.values())
