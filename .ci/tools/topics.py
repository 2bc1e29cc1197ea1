"""Compares the public types of a module with the topics of its first page: topics.py SYMBOLGRAPH PAGE"""

import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    graph = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    page = file.read()
types = {symbol["pathComponents"][0] for symbol in graph["symbols"] if len(symbol["pathComponents"]) == 1}
listed = re.findall(r"^- ``(\w+)``$", page[page.index("## Topics") :], flags=re.M)
for name in sorted(types - set(listed)):
    print(f"{name} is public and in no topic of {sys.argv[2]}: add it there, or make it package")
for name in sorted({name for name in listed if listed.count(name) > 1}):
    print(f"{name} is in two topics of {sys.argv[2]}")
if len(types) < 100:
    sys.exit(f"only {len(types)} public types were found: is the symbol graph whole?")
sys.exit(1 if types - set(listed) or len(listed) != len(set(listed)) else 0)
