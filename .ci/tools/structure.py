"""Draws which target and which folder uses which, from the index that a debug build writes.

usage: structure.py STORE PAGE [--renew]

STORE is the index store of a debug build, PAGE the page of the documentation that holds the drawing. Prints the
drawing with the number of uses. Fails if folders of a target use each other in a circle, and lists the uses that run
against the others; fails if the page's drawing is out of date, or writes it with --renew.
"""

import collections
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import time

DEFINITION, REFERENCE = 0x2, 0x4
RECORD = 2
BEGIN, END = "<!-- structure -->\n```text\n", "```\n<!-- /structure -->"


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


def library():
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True).stdout)
    libraries = os.path.dirname(target["paths"]["runtimeResourcePath"])
    found = glob.glob(os.path.join(libraries, "libIndexStore.so*"))
    if not found:
        sys.exit("structure: the toolchain has no libIndexStore.so; use one from swift.org")
    index = ctypes.CDLL(sorted(found)[0])
    pointer, each = ctypes.c_void_p, ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
    each_name = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
    for name, result, arguments in [
        ("store_create", pointer, [ctypes.c_char_p, pointer]),
        ("store_units_apply_f", ctypes.c_bool, [pointer, ctypes.c_uint, pointer, each_name]),
        ("unit_reader_create", pointer, [pointer, ctypes.c_char_p, pointer]),
        ("unit_reader_dispose", None, [pointer]),
        ("unit_reader_get_main_file", Text, [pointer]),
        ("unit_reader_dependencies_apply_f", ctypes.c_bool, [pointer, pointer, each]),
        ("unit_dependency_get_kind", ctypes.c_uint, [pointer]),
        ("unit_dependency_get_name", Text, [pointer]),
        ("unit_dependency_get_filepath", Text, [pointer]),
        ("record_reader_create", pointer, [pointer, ctypes.c_char_p, pointer]),
        ("record_reader_dispose", None, [pointer]),
        ("record_reader_occurrences_apply_f", ctypes.c_bool, [pointer, pointer, each]),
        ("occurrence_get_symbol", pointer, [pointer]),
        ("occurrence_get_roles", ctypes.c_uint64, [pointer]),
        ("occurrence_get_line_col", None, [pointer, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]),
        ("symbol_get_usr", Text, [pointer]),
        ("symbol_get_name", Text, [pointer]),
    ]:
        function = getattr(index, "indexstore_" + name)
        function.restype, function.argtypes = result, arguments
    return index, each, each_name


def occurrences(store_path, sources):
    """Each (file, line, roles, USR, name) of the Swift files below `sources` that exist now."""
    index, each, each_name = library()
    store = index.indexstore_store_create(os.fsencode(store_path), None)
    if not store:
        sys.exit(f"structure: {store_path} is no index store; build for debugging first")
    found, units = [], []

    @each_name
    def add_unit(_, name):
        units.append(str(name))
        return True

    index.indexstore_store_units_apply_f(store, 1, None, add_unit)
    line, column = ctypes.c_uint(), ctypes.c_uint()
    names = {}
    for unit in units:
        reader = index.indexstore_unit_reader_create(store, unit.encode(), None)
        if not reader:
            continue
        file = str(index.indexstore_unit_reader_get_main_file(reader))
        if not (file.startswith(sources) and file.endswith(".swift") and os.path.exists(file)):
            index.indexstore_unit_reader_dispose(reader)
            continue

        @each
        def add_occurrence(_, occurrence):
            roles = index.indexstore_occurrence_get_roles(occurrence)
            if roles & (DEFINITION | REFERENCE):
                symbol = index.indexstore_occurrence_get_symbol(occurrence)
                usr = str(index.indexstore_symbol_get_usr(symbol))
                if usr not in names:
                    names[usr] = str(index.indexstore_symbol_get_name(symbol))
                index.indexstore_occurrence_get_line_col(occurrence, ctypes.byref(line), ctypes.byref(column))
                found.append((file, line.value, roles, usr, names[usr]))
            return True

        @each
        def add_record(_, dependency):
            if index.indexstore_unit_dependency_get_kind(dependency) == RECORD:
                if str(index.indexstore_unit_dependency_get_filepath(dependency)) == file:
                    name = str(index.indexstore_unit_dependency_get_name(dependency)).encode()
                    record = index.indexstore_record_reader_create(store, name, None)
                    if record:
                        index.indexstore_record_reader_occurrences_apply_f(record, None, add_occurrence)
                        index.indexstore_record_reader_dispose(record)
            return True

        index.indexstore_unit_reader_dependencies_apply_f(reader, None, add_record)
        index.indexstore_unit_reader_dispose(reader)
    return found


def complete_occurrences(store, sources):
    """The occurrences in all Swift files below `sources`. A build of another check may be replacing parts of the index."""
    listed = subprocess.run(["git", "ls-files", "Sources/*.swift"], check=True, capture_output=True, text=True).stdout
    wanted = {os.path.abspath(file) for file in listed.split() if ".docc/" not in file and os.path.exists(file)}
    for attempt in range(5):
        found = occurrences(store, sources)
        missing = wanted - {occurrence[0] for occurrence in found}
        if not missing:
            return found
        time.sleep(5 * (attempt + 1))
    names = ", ".join(sorted(os.path.relpath(file) for file in missing)[:5])
    sys.exit(f"structure: the index of the debug build lacks {len(missing)} files, such as {names}: run swift package clean")


def place(file, sources):
    """Target and folder of a file; the folder "." holds the files beside the folders."""
    parts = file[len(sources) :].split(os.sep)
    return parts[0], parts[1] if len(parts) > 2 else "."


def imported(file):
    """The modules that a file imports."""
    with open(file, encoding="utf-8") as lines:
        return {line.split()[-1] for line in lines if re.match(r"(@\w+ )?import \w+$", line)}


def in_order(nodes, arrows):
    """The nodes, each behind those that it uses, and the circles among them."""
    order, circles, left = [], [], sorted(nodes)
    while left:
        free = [node for node in left if not arrows[node] & (set(left) - {node})]
        if not free:
            # What remains uses a circle or is in one; those that nothing else of it uses are not.
            circle = set(left)
            while True:
                inner = {node for node in circle if any(node in arrows[other] for other in circle - {node})}
                if inner == circle:
                    break
                circle = inner
            circles.append(sorted(circle))
            free = left[:]
        order += free
        left = [node for node in left if node not in free]
    return order, circles


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--renew"]
    store, page = arguments
    sources = os.path.join(os.getcwd(), "Sources") + os.sep
    found = complete_occurrences(store, sources)
    homes = {}
    for file, _, roles, usr, _ in found:
        if roles & DEFINITION:
            homes.setdefault(usr, file)
    imports = collections.defaultdict(set)
    between, within = collections.Counter(), collections.Counter()
    uses = collections.defaultdict(list)
    files = collections.defaultdict(set)
    for file, line, roles, usr, name in found:
        target, folder = place(file, sources)
        if file not in files[target, folder]:
            files[target, folder].add(file)
            imports[target] |= imported(file)
        if not roles & REFERENCE or usr not in homes or homes[usr] == file:
            continue
        other, home = place(homes[usr], sources)
        if other != target:
            between[target, other] += 1
        elif home != folder:
            within[target, folder, home] += 1
            uses[target, folder, home].append((file, line, name))

    targets = {target for target, _ in files}
    of_target = {target: imports[target] & targets for target in targets}
    order, circles = in_order(targets, of_target)
    if circles:
        sys.exit(f"structure: targets use each other in a circle: {circles}")
    failed = False
    drawing, counted = [], []
    for target in order:
        below = [other for other in order if other in of_target[target]]
        drawing.append(target + (" → " + " ".join(below) if below else ""))
        of_folder = {f: {b for t, a, b in within if t == target and a == f} for t, f in files if t == target}
        folders, circles = in_order(of_folder, of_folder)
        lines = sum(len(open(f, encoding="utf-8").readlines()) for t, s in files if t == target for f in files[t, s])
        counted.append(f"{target}: {lines} lines; " + ", ".join(f"{o} {between[target, o]}" for o in below))
        for folder in folders:
            used = [other for other in folders if other in of_folder[folder]]
            if folders != ["."]:
                drawing.append(f"    {folder}" + (" → " + " ".join(used) if used else ""))
            counts = ", ".join(f"{other} {within[target, folder, other]}" for other in used)
            counted.append(f"    {folder}: {len(files[target, folder])} files; {counts}")
        for circle in circles:
            failed = True
            print(f"structure: folders of {target} use each other in a circle: {', '.join(circle)}")
            pairs = sorted((within[target, a, b], a, b) for a in circle for b in circle if (target, a, b) in within)
            for count, one, other in pairs[: 2 * len(circle)]:
                print(f"  {one} → {other}: {count} uses, such as")
                for file, line, name in uses[target, one, other][:3]:
                    print(f"    {os.path.relpath(file)}:{line}: {name}")
    print("\n".join(counted))
    print(f"| {len(targets)} targets, {sum(map(len, files.values()))} files")

    text = "\n".join(drawing) + "\n"
    with open(page, encoding="utf-8") as file:
        content = file.read()
    start, end = content.find(BEGIN), content.find(END)
    if start < 0 or end < start:
        sys.exit(f"structure: {page} has no place for the drawing: {BEGIN!r} … {END!r}")
    renewed = content[: start + len(BEGIN)] + text + content[end:]
    if renewed != content:
        if "--renew" in sys.argv:
            with open(page, "w", encoding="utf-8") as file:
                file.write(renewed)
        else:
            print(f"structure: the drawing in {page} is out of date; run .ci/docs --renew-structure")
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
