"""Lists the public declarations without a doc comment: docs.py SYMBOLGRAPH..."""

import json
import sys

failed = False
count = 0
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        graph = json.load(file)
    for symbol in graph["symbols"]:
        count += 1
        if symbol.get("docComment", {}).get("lines"):
            continue
        place = symbol.get("location", {})
        file_name = place.get("uri", "").removeprefix("file://").partition("/Sources/")[2]
        line = place.get("position", {}).get("line", 0) + 1
        print(f"Sources/{file_name}:{line}: {'.'.join(symbol['pathComponents'])} has no doc comment")
        failed = True
if count < 100:
    print(f"only {count} public declarations were found; check the list of modules")
    failed = True
sys.exit(1 if failed else 0)
