"""A copy of the package with mutants behind switches, built once."""

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict

TOOLS = os.path.dirname(os.path.abspath(__file__))
REDUCED, PACKAGE, BUILD = ".build/mutants/reduced", ".build/mutants/package", ".build/mutants/build"
# What didn't compile in earlier runs.
UNFIT = ".build/mutants/unfit.json"
SWITCH = "MutantSwitch"
ERROR = re.compile(r"^(/[^:\n]+):(\d+):\d+: error: (.*)$", re.MULTILINE)


def target_of(file):
    return file.split("/")[1]


def identity(mutant):
    return [mutant["file"], mutant["start"], mutant["code"]]


def write(path, content):
    """Writes a file, and keeps one with the same content, so that it isn't compiled again."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def plant(source, mutants):
    """Returns a source with the code of its mutants, and gives each mutant the lines of the copy that it fills."""
    pieces, at, line = [f"import {SWITCH}\n".encode()], 0, 2
    for mutant in sorted(mutants, key=lambda mutant: mutant["start"]):
        code = mutant["code"].replace("@", str(mutant["number"]), 1).encode()
        kept, at = source[at : mutant["start"]], mutant["end"]
        first = line + kept.count(b"\n")
        line = first + code.count(b"\n")
        mutant["lines"] = (first, line)
        pieces += [kept, code]
    return b"".join(pieces) + source[at:]


def write_package(mutants, tests):
    """Writes the copy: links to what stays, and the sources of the targets that have mutants."""
    targets = sorted({target_of(mutant["file"]) for mutant in mutants})
    by_file = defaultdict(list)
    for mutant in mutants:
        by_file[mutant["file"]].append(mutant)
    for name in ["Tests", "Fixtures", *(f"Sources/{target}" for target in os.listdir("Sources"))]:
        copy = f"{PACKAGE}/{name}"
        if os.path.islink(copy):
            os.remove(copy)
        if name.removeprefix("Sources/") in targets:
            continue
        shutil.rmtree(copy, ignore_errors=True)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        os.symlink(os.path.abspath(name), copy)
    for target in targets:
        wanted = subprocess.run(["find", f"Sources/{target}", "-type", "f"], check=True, capture_output=True, text=True)
        wanted = set(wanted.stdout.splitlines())
        for folder, _, names in os.walk(f"{PACKAGE}/Sources/{target}"):
            for path in (os.path.join(folder, name) for name in names):
                if os.path.relpath(path, PACKAGE) not in wanted:
                    os.remove(path)
        for path in wanted:
            with open(path, "rb") as file:
                source = file.read()
            write(f"{PACKAGE}/{path}", plant(source, by_file[path]) if path in by_file else source)
    for name in ("include/switch.h", "switch.c"):
        with open(f"{TOOLS}/{os.path.basename(name)}", "rb") as file:
            write(f"{PACKAGE}/Sources/{SWITCH}/{name}", file.read())
    subprocess.run([f"{TOOLS}/../reduced-package", REDUCED, *tests], check=True)
    with open(f"{REDUCED}/Package.swift") as file:
        manifest = file.read()
    # The tests themselves aren't optimized: that would take longer than they run.
    manifest += f"""
package.targets.append(.target(name: "{SWITCH}"))
for target in package.targets where target.type == .regular && target.name != "{SWITCH}" {{
    if {json.dumps(targets)}.contains(target.name) {{ target.dependencies.append("{SWITCH}") }}
    target.swiftSettings = [.unsafeFlags(["-O", "-whole-module-optimization", "-num-threads", "2"])]
}}
"""
    write(f"{PACKAGE}/Package.swift", manifest.encode())


def blamed(mutants, path, line):
    """Returns the mutants that an error of the compiler may be about: those of its line, or the neighbours."""
    here = [mutant for mutant in mutants if path.endswith(f"{PACKAGE}/{mutant['file']}")]
    on_line = [mutant for mutant in here if mutant["lines"][0] <= line <= mutant["lines"][1]]
    here.sort(key=lambda mutant: mutant["start"])
    before = [mutant for mutant in here if mutant["lines"][1] < line]
    after = [mutant for mutant in here if mutant["lines"][0] > line]
    return on_line or before[-1:] + after[:1]


def build(mutants, tests):
    """Builds the tests with the mutants. Returns their program and the mutants without those that don't compile."""
    command = ["swift", "build", "--package-path", PACKAGE, "--scratch-path", BUILD]
    unfit = []
    if os.path.exists(UNFIT):
        with open(UNFIT) as file:
            unfit = json.load(file)
    while True:
        mutants = [mutant for mutant in mutants if identity(mutant) not in unfit]
        write_package(mutants, tests)
        done = subprocess.run([*command, "--build-tests"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            break
        known = len(unfit)
        for path, line, text in sorted(set(ERROR.findall(done.stdout))):
            about = blamed(mutants, path, int(line))
            unfit += map(identity, about)
            print(*(f"{mutant['file']}:{mutant['line']} {mutant['kind']}" for mutant in about), "is left out:", text, flush=True)
        if len(unfit) == known:
            raise SystemExit(done.stdout[-4000:] + "\nmutants: the package doesn't compile, and no mutant is the cause")
        with open(UNFIT, "w") as file:
            json.dump(unfit, file)
    folder = subprocess.run([*command, "--show-bin-path"], check=True, capture_output=True, text=True).stdout
    return f"{folder.strip()}/IndoorLocalizationPackageTests.xctest", mutants
