"""Checks a bill of materials in the format SPDX 2.3 (JSON) without a network: spdx.py FILE PACKAGE.deb…

The rules are those of the specification's fields that the file uses; beside that, every program names what is linked into it,
and every component has a version and a licence.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
CREATOR = re.compile(r"(Person|Organization|Tool): \S.*")
PLACE = re.compile(r"NOASSERTION|NONE|git\+https://\S+|https://\S+")
LICENCES = {
    "AFL-2.1", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "blessing", "curl", "EPL-2.0", "GPL-2.0-only", "GPL-2.0-or-later",
    "GPL-3.0-or-later", "ISC", "LGPL-2.1-or-later", "MIT", "PostgreSQL", "Unicode-3.0", "Zlib"}
EXCEPTIONS = {"GCC-exception-3.1", "LLVM-exception", "Swift-exception"}
RELATIONSHIPS = {"CONTAINS", "DEPENDS_ON", "DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK"}
LENGTHS = {"SHA1": 40, "SHA256": 64}
# What each program of the package contains at least.
PROJECTS = {"swift", "swift-corelibs-libdispatch", "swift-corelibs-foundation", "swift-foundation", "swift-foundation-icu"}


def expression_problem(text):
    """Returns what is wrong with an expression of licences, such as `A OR B WITH C`, or none."""
    if text == "NOASSERTION":
        return None
    for part in re.split(r" (?:AND|OR) ", text):
        name, _, exception = part.partition(" WITH ")
        if name not in LICENCES or (exception and exception not in EXCEPTIONS):
            return f"{part} is no licence that this check knows"
    return None


def required(element, what, fields):
    for field in fields:
        if element.get(field) in (None, "", []):
            yield f"{what} has no {field}"


def element_problems(document):
    yield from required(document, "the document", ["spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo",
                                                   "packages", "files", "relationships"])
    for field, value in [("spdxVersion", "SPDX-2.3"), ("dataLicense", "CC0-1.0"), ("SPDXID", "SPDXRef-DOCUMENT")]:
        if document[field] != value:
            yield f"{field} is {document[field]}, not {value}"
    if not re.fullmatch(r"https://[^#\s]+", document["documentNamespace"]):
        yield f"documentNamespace is no address without a fragment: {document['documentNamespace']}"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]):
        yield f"created is no time: {document['creationInfo']['created']}"
    for creator in document["creationInfo"]["creators"]:
        if not CREATOR.fullmatch(creator):
            yield f"{creator} is no creator"
    names = ["SPDXRef-DOCUMENT"]
    for package in document["packages"]:
        name = package.get("SPDXID", "a package")
        names.append(name)
        yield from required(package, name, ["SPDXID", "name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared",
                                            "copyrightText"])
        if not PLACE.fullmatch(package["downloadLocation"]):
            yield f"{name}: {package['downloadLocation']} is no place"
        for field in ("licenseConcluded", "licenseDeclared"):
            if problem := expression_problem(package[field]):
                yield f"{name}: {problem}"
        if package["licenseDeclared"] == "NOASSERTION":
            yield f"{name} states no licence"
        for reference in package.get("externalRefs", []):
            if not re.fullmatch(r"pkg:[a-z]+/\S+", reference["referenceLocator"]) or reference["referenceType"] != "purl":
                yield f"{name}: {reference['referenceLocator']} is no address of a package"
    for file in document["files"]:
        names.append(file["SPDXID"])
        yield from required(file, file["SPDXID"], ["fileName", "checksums", "licenseConcluded", "copyrightText"])
        if "SHA1" not in {checksum["algorithm"] for checksum in file["checksums"]}:
            yield f"{file['SPDXID']} has no SHA1, which the format demands of a file"
    for element in document["packages"] + document["files"]:
        for checksum in element.get("checksums", []):
            if len(checksum["checksumValue"]) != LENGTHS.get(checksum["algorithm"]):
                yield f"{element['SPDXID']}: {checksum['checksumValue']} is no {checksum['algorithm']}"
    for name in names:
        if not IDENTIFIER.fullmatch(name):
            yield f"{name} is no identifier"
        if names.count(name) > 1:
            yield f"{name} is used twice"
    for relationship in document["relationships"]:
        if relationship["relationshipType"] not in RELATIONSHIPS:
            yield f"{relationship['relationshipType']} is no relationship"
        for end in ("spdxElementId", "relatedSpdxElement"):
            if relationship[end] not in names:
                yield f"a relationship names {relationship[end]}, which does not exist"


def content_problems(document, debs):
    """Compares the document with the packages."""
    packages = {package["SPDXID"]: package for package in document["packages"]}
    links = {}
    for relationship in document["relationships"]:
        links.setdefault((relationship["spdxElementId"], relationship["relationshipType"]), []).append(relationship["relatedSpdxElement"])
    described = {packages[name]["packageFileName"]: packages[name] for name in links.get(("SPDXRef-DOCUMENT", "DESCRIBES"), [])}
    for deb in debs:
        package = described.pop(os.path.basename(deb), None)
        if package is None:
            yield f"{deb} is not described"
            continue
        with open(deb, "rb") as file:
            if package["checksums"][0]["checksumValue"] != hashlib.file_digest(file, "sha256").hexdigest():
                yield f"{deb} has another checksum"
        programs = links.get((package["SPDXID"], "CONTAINS"), [])
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)
            for file in (file for file in document["files"] if file["SPDXID"] in programs):
                path = os.path.join(folder, file["fileName"])
                with open(path, "rb") as program:
                    digest = hashlib.file_digest(program, "sha256").hexdigest()
                if digest not in [checksum["checksumValue"] for checksum in file["checksums"]]:
                    yield f"{deb}: {file['fileName']} has another checksum"
                static = {packages[name]["name"] for name in links.get((file["SPDXID"], "STATIC_LINK"), [])}
                if missing := PROJECTS - static:
                    yield f"{file['fileName']} is said to contain no {', '.join(sorted(missing))}"
                dynamic = {relationship.get("comment") for relationship in document["relationships"]
                           if relationship["spdxElementId"] == file["SPDXID"] and relationship["relationshipType"] == "DYNAMIC_LINK"}
                printed = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
                needed = set(re.findall(r"^ *NEEDED +(\S+)", printed, re.MULTILINE))
                if dynamic != needed:
                    yield f"{file['fileName']} loads {sorted(needed)}, not {sorted(dynamic)}"
        if not programs:
            yield f"{deb} is said to contain no program"
    for name in described:
        yield f"{name} is described, but was not given"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    found = list(element_problems(document)) or list(content_problems(document, sys.argv[2:]))
    print("\n".join(f"{sys.argv[1]}: {problem}" for problem in found), end="\n" if found else "")
    print(f"{sys.argv[1]}: {len(document['packages'])} packages, {len(document['relationships'])} relationships")
    sys.exit(1 if found else 0)


main()
