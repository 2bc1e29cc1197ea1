"""The public API of the libraries: its dump, its changes since a baseline, and its types' statements on `Sendable`."""

import json
import lzma
import os
import subprocess


def dump(libraries, flags, folder):
    """Returns the public declarations of the libraries, as swift-api-digester describes them."""
    path = os.path.join(folder, "api.json")
    modules = [argument for library in libraries for argument in ("-module", library)]
    subprocess.run(["swift-api-digester", "-dump-sdk", *modules, *flags, "-sdk", "/", "-avoid-location", "-avoid-tool-args",
                    "-o", path], check=True)
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    strip(whole["ABIRoot"], tuple(f"s:{len(library)}{library}" for library in libraries))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file, separators=(",", ":"))
    return path, whole["ABIRoot"]


def strip(node, own):
    """Removes declarations for the package alone, which no user can call, and what other packages' types conform to.

    own: what the identifiers of the libraries' declarations begin with. Which conformances to other protocols a type of
    another package has depends on the modules that are loaded.
    """
    if node.get("isExternal"):
        node["conformances"] = [conformance for conformance in node.get("conformances", [])
                                if conformance.get("usr", "").startswith(own)]
    if "children" in node:
        node["children"] = [child for child in node["children"] if not child.get("isInternal")]
        for child in node["children"]:
            strip(child, own)


def absent(libraries, root):
    """Returns the libraries without declarations, which the tool couldn't load."""
    return sorted(set(libraries) - {child.get("moduleName") for child in root["children"]})


def unstated(node, path=""):
    """Yields each public type without a conformance to `Sendable`, available or not.

    The compiler derives none for a public type, so each of these is stated. Protocols needn't state it.
    """
    for child in node.get("children", []):
        name = child["name"]
        if child.get("kind") == "TypeDecl":
            conformances = {conformance["name"] for conformance in child.get("conformances", [])}
            if child["declKind"] != "Protocol" and not child.get("isExternal") and "Sendable" not in conformances:
                yield f"{child['moduleName']}: {path}{name} does not state whether it is Sendable"
            yield from unstated(child, f"{path}{name}.")


def changes(baseline, current, folder):
    """Yields each breaking change of the API since a baseline, with its module."""
    path = os.path.join(folder, "baseline.json")
    with lzma.open(baseline) as packed, open(path, "wb") as file:
        file.write(packed.read())
    result = subprocess.run(["swift-api-digester", "-diagnose-sdk", "-print-module", "-input-paths", path, "-input-paths", current],
                            capture_output=True, text=True)
    if result.returncode != 0:
        yield f"swift-api-digester failed: {result.stderr or result.stdout}"
    # The tool lists all kinds of changes, each under its heading, and exits with 0.
    for line in result.stdout.splitlines() + result.stderr.splitlines():
        if line and not (line.startswith("/*") and line.endswith("*/")):
            yield line


def renew(baseline, current):
    with open(current, "rb") as file, lzma.open(baseline, "w", preset=9 | lzma.PRESET_EXTREME) as packed:
        packed.write(file.read())
