"""The record of the checks that .ci/run doesn't always run: with which inputs each of them last passed.

The head of such a check names its inputs, as paths of the repository, and whether .ci/run runs it when they changed:

    # inputs: Sources/BlueZScanning .ci/tools/guest
    # when-touched

.ci/passed.tsv has a line for each check: its name, a checksum of its inputs, and the date. The checksum includes the
inputs as they are in the working tree, the check itself and the version of Swift, so that a record is either right or
visibly out of date.
"""

import datetime
import hashlib
import os
import subprocess

RECORD = ".ci/passed.tsv"
HEAD = "# The checks of .ci/run --all: name, checksum of the inputs with which it last passed, date. A check writes its line itself.\n"


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def header(check):
    """Returns the inputs that a check names in its head, or none, and whether it runs when they changed."""
    inputs, when_touched = [], False
    with open(f".ci/{check}", encoding="utf-8") as file:
        for line in file:
            if line.startswith("# inputs: "):
                inputs += line.removeprefix("# inputs: ").split()
            when_touched = when_touched or line == "# when-touched\n"
    return inputs, when_touched


def files(check):
    """Returns the files of the working tree that are a check's inputs."""
    paths = header(check)[0] + [f".ci/{check}"]
    found = set()
    for path in paths:
        names = output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path).split("\0")
        # .ci/lint reports a path that doesn't exist.
        found.update(name for name in names if name and os.path.isfile(name))
    return sorted(found)


def checksum(check):
    names = files(check)
    blobs = output("git", "hash-object", "--stdin-paths", input="\n".join(names) + "\n").split()
    text = output("swiftc", "--version") + "".join(f"{name} {blob}\n" for name, blob in zip(names, blobs, strict=True))
    return hashlib.sha256(text.encode()).hexdigest()


def is_clean(check):
    """Whether the inputs are as they were committed."""
    return not output("git", "status", "--porcelain", "--", *header(check)[0], f".ci/{check}")


def read():
    """Returns the checksum and the date of each recorded check."""
    if not os.path.exists(RECORD):
        return {}
    with open(RECORD, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {name: (total, date) for name, total, date in lines}


def write(check, total):
    record = read() | {check: (total, datetime.date.today().isoformat())}
    with open(RECORD, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join("\t".join((name, *record[name])) + "\n" for name in sorted(record)))
