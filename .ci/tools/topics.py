"""The public types of a module, compared with the topics of its first page."""

import re


def problems(graph, page, path):
    """Yields the types of a symbol graph that the page's topics don't list, or list twice."""
    types = {symbol["pathComponents"][0] for symbol in graph["symbols"] if len(symbol["pathComponents"]) == 1}
    listed = re.findall(r"^- ``(\w+)``$", page[page.index("## Topics") :], flags=re.M)
    for name in sorted(types - set(listed)):
        yield f"{name} is public and in no topic of {path}: add it there, or make it package"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"{name} is in two topics of {path}"
    if len(types) < 100:
        yield f"only {len(types)} public types were found: is the symbol graph whole?"
