"""A reduced copy of the package with mutants behind switches."""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict

TOOLS = os.path.dirname(os.path.abspath(__file__))
REDUCED, PACKAGE, BUILD = ".build/mutants/reduced", ".build/mutants/package", ".build/mutants/build"
SWITCH = "MutantSwitch"
COMPLAINT = re.compile(r"^(/[^:\n]+):(\d+):(\d+): error: (.*)$", re.MULTILINE)


def find(files):
    """Returns the mutants of Swift files, in the order of the source."""
    output = subprocess.run([".build/mutants/find", *files], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def plant(source, mutants):
    """Returns the bytes of a source with the switches of its mutants, and the span of each mutant in them by number."""
    inserts = []
    for mutant in mutants:
        start, end, number = mutant["start"], mutant["end"], mutant["number"]
        opening, closing = (mutant[key].replace("@", str(number), 1).encode() for key in ("open", "close"))
        # At one place: first what ends there, the inner one first, then what begins there, the outer one first.
        if start == end:
            inserts.append(((start, 1, 0, 0), opening + closing, number, "whole"))
        else:
            inserts.append(((start, 2, -end, number), opening, number, "start"))
            inserts.append(((end, 0, -start, -number), closing, number, "end"))
    inserts.sort(key=lambda insert: insert[0])
    pieces, length, at, starts, spans = [], 0, 0, {}, {}
    for (place, *_), text, number, part in inserts:
        pieces += [source[at:place], text]
        length, at = length + place - at + len(text), place
        if part == "end":
            spans[number] = (starts[number], length)
        else:
            starts[number] = length - len(text)
            spans[number] = (length - len(text), length)
    return b"".join(pieces) + source[at:], spans


def write(path, content):
    """Writes a file, and keeps one with the same content, so that it isn't compiled again."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def link(target, path):
    if os.path.islink(path):
        return
    if os.path.exists(path):
        shutil.rmtree(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(os.path.abspath(target), path)


def target_of(file):
    return file.split("/")[1]


class Schemata:
    """The package with all mutants in it, built once. Mutants that don't compile are removed."""

    def __init__(self, mutants, tests):
        self.mutants = {mutant["number"]: mutant for mutant in mutants}
        self.tests = tests
        self.targets = sorted({target_of(mutant["file"]) for mutant in mutants})
        self.removed = []
        self.spans = {}

    def write(self):
        link("Tests", f"{PACKAGE}/Tests")
        link("Fixtures", f"{PACKAGE}/Fixtures")
        for target in os.listdir("Sources"):
            if target not in self.targets:
                link(f"Sources/{target}", f"{PACKAGE}/Sources/{target}")
        for name in ("switch.h", "switch.c"):
            folder = "include/" if name.endswith(".h") else ""
            with open(f"{TOOLS}/{name}", "rb") as file:
                write(f"{PACKAGE}/Sources/{SWITCH}/{folder}{name}", file.read())
        for target in self.targets:
            self.write_target(target)
        subprocess.run([f"{TOOLS}/../reduced-package", REDUCED, *self.tests], check=True)
        with open(f"{REDUCED}/Package.swift") as manifest:
            text = manifest.read()
        names = json.dumps(self.targets)
        text += f"""
package.targets.append(.target(name: "{SWITCH}"))
for target in package.targets {{
    if {names}.contains(target.name) {{ target.dependencies.append("{SWITCH}") }}
    // The tests themselves stay as they are: compiling them would take longer than they run.
    if target.type == .regular {{ target.swiftSettings = [.unsafeFlags(["-O"])] }}
}}
"""
        write(f"{PACKAGE}/Package.swift", text.encode())

    def write_target(self, target):
        """Copies the sources of a target, with the mutants."""
        copy = f"{PACKAGE}/Sources/{target}"
        if os.path.islink(copy):
            os.remove(copy)
        by_file = defaultdict(list)
        for mutant in self.mutants.values():
            by_file[mutant["file"]].append(mutant)
        kept = set()
        for folder, _, names in os.walk(f"Sources/{target}"):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    source = file.read()
                if path in by_file:
                    source, spans = plant(source, by_file[path])
                    header = f"import {SWITCH}\n".encode()
                    source = header + source
                    self.spans.update({n: (s + len(header), e + len(header)) for n, (s, e) in spans.items()})
                write(f"{PACKAGE}/{path}", source)
                kept.add(f"{PACKAGE}/{path}")
        for folder, _, names in os.walk(copy):
            for name in names:
                if os.path.join(folder, name) not in kept:
                    os.remove(os.path.join(folder, name))

    def build(self):
        """Builds the tests; removes mutants that don't compile and repeats. Returns the program of the tests."""
        command = ["swift", "build", "--package-path", PACKAGE, "--scratch-path", BUILD]
        for _ in range(40):
            self.write()
            done = subprocess.run([*command, "--build-tests"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode == 0:
                folder = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout
                return folder.strip() + "/IndoorLocalizationPackageTests.xctest"
            unfit = set()
            for path, line, column, text in set(COMPLAINT.findall(done.stdout)):
                unfit |= self.blamed(path, int(line), int(column), text)
            if not unfit:
                raise SystemExit(done.stdout[-4000:] + "\nmutants: the package doesn't compile, and no mutant is the cause")
            for number in unfit:
                self.removed.append(self.mutants.pop(number))
            print(f"{len(unfit)} mutants don't compile and are left out", flush=True)
        raise SystemExit("mutants: the package doesn't compile")

    def blamed(self, path, line, column, text):
        """Returns the numbers of the mutants that an error of the compiler is about."""
        with open(path, "rb") as file:
            source = file.read()
        start = 0
        for _ in range(line - 1):
            start = source.index(b"\n", start) + 1
        at = start + column - 1
        file = os.path.relpath(path, PACKAGE)
        spans = {n: self.spans[n] for n, mutant in self.mutants.items() if mutant["file"] == file}
        around = sorted((end - begin, n) for n, (begin, end) in spans.items() if begin <= at <= end)
        if around:
            # Too much for the type checker is too much because of all of them.
            return {n for _, n in around} if "reasonable time" in text else {around[0][1]}
        near = {n for n, (begin, end) in spans.items() if source.count(b"\n", begin, at) == 0 and begin <= at}
        near |= {n for n, (begin, end) in spans.items() if source.count(b"\n", at, begin) == 0 and at <= begin}
        if near:
            return near
        # A value that is missing after a branch is reported at the end of its function: the last statement before it.
        before = [n for n, (begin, _) in sorted(spans.items(), key=lambda item: item[1]) if begin <= at]
        statements = [n for n in before if self.mutants[n]["kind"] in ("statement", "branch")]
        return {(statements or before)[-1]} if before else set(spans)
