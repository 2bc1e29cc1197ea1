"""Writes each ```swift block of Markdown files into a separate file that compiles: snippets.py FOLDER PAGE...

Imports stay at the top; the rest goes into a function that may await and throw, unless it contains declarations that
are only allowed at file level. Compiler messages refer to the page and its line.
"""

import os
import re
import sys

BLOCK = re.compile(r"^( *)```swift *\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
# Declarations that are not allowed in a function.
FILE_LEVEL = re.compile(r"^(@main|(public )?(extension|protocol|actor)\b)", re.MULTILINE)

folder = sys.argv[1]
count = 0
for page in sys.argv[2:]:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for block in BLOCK.finditer(text):
        indent, code = block.groups()
        lines = [line.removeprefix(indent) for line in code.split("\n")]
        is_import = [line.startswith("import ") for line in lines]
        first = text.count("\n", 0, block.start(2)) + 1
        location = f'#sourceLocation(file: "{os.path.abspath(page)}", line: {first})'
        imports = "\n".join(line for line, flag in zip(lines, is_import) if flag)
        rest = "\n".join("" if flag else line for line, flag in zip(lines, is_import))
        if "import IndoorLocalization\n" not in imports + "\n":
            imports += "\nimport IndoorLocalization"
        if not FILE_LEVEL.search(code):
            rest = f"func snippet() async throws {{\n{location}\n{rest}\n#sourceLocation()\n}}"
        else:
            rest = f"{location}\n{rest}\n#sourceLocation()"
        count += 1
        with open(os.path.join(folder, f"snippet{count}.swift"), "w", encoding="utf-8") as file:
            file.write(f"{imports}\n{rest}\n")
if count == 0:
    sys.exit("no Swift block was found; check the path of the catalogue")
