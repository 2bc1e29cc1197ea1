"""The symbol graphs of the libraries: their public declarations, from the products of a debug build."""

import glob
import json
import os
import re
import subprocess


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def core():
    """Returns the modules that `IndoorLocalization` exports again."""
    return read(".ci/tools/core-modules").split()


def libraries():
    """Returns the name of every library product."""
    return re.findall(r'^ +library\("([^"]+)"\)', read("Package.swift"), re.MULTILINE)


def documented():
    """Returns the libraries with a graph of their own. That of `IndoorLocalization` has the declarations of the core."""
    return [name for name in libraries() if name not in core()]


def triple():
    information = subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout
    return json.loads(information)["target"]["unversionedTriple"]


def reader_flags(products):
    """Returns the options with which a reader's build finds the modules: its own, and those of system libraries."""
    maps = [f"-fmodule-map-file={path}" for path in sorted(glob.glob(f"{products}/*.build/module.modulemap"))]
    flags = ["-I", f"{products}/Modules"]
    for shim in sorted(glob.glob("Sources/C*/module.modulemap")):
        flags += ["-I", os.path.dirname(shim)]
    for option in maps:
        flags += ["-Xcc", option]
    return flags


def extract(module, flags, target, folder):
    """Writes the graph of a module into a folder, and returns it."""
    os.makedirs(folder, exist_ok=True)
    result = subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, *flags, "-target", target,
         "-minimum-access-level", "public", "-skip-synthesized-members",
         f"-experimental-allowed-reexported-modules={','.join(core())}", "-output-dir", folder],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stdout.rstrip() or f"swift symbolgraph-extract failed for {module}")
    return json.loads(read(f"{folder}/{module}.symbols.json"))
