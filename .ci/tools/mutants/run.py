"""Breaks code on purpose and lists what no test notices: run.py [OPTION...] [PATH...]"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from schemata import Schemata, find, target_of

RESULTS = ".build/mutants/results.json"
PATHS = [
    "Sources/IndoorPositioning", "Sources/LocalizationSession/Machine", "Sources/BeaconScanning/Decoding",
    "Sources/VenuePackets/Packet",
]
# A broken program may allocate without end.
MEMORY = 8 << 30


def sources(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".swift"))


def sample(arguments):
    """Returns the mutants of a run: `count` of each path, the same for the same seed."""
    generator, chosen = random.Random(arguments.seed), {}
    for path in arguments.paths:
        mutants = find(sources(path))
        generator.shuffle(mutants)
        # Some of them don't compile.
        for mutant in mutants[: arguments.count * 3 // 2] if arguments.count else mutants:
            chosen.setdefault((mutant["file"], mutant["start"], mutant["end"], mutant["after"]), {**mutant, "path": path})
    return [{**mutant, "number": number} for number, mutant in enumerate(chosen.values(), start=1)]


def tests_of(mutants):
    """Returns the test targets of the targets of mutants."""
    targets = {target_of(mutant["file"]) for mutant in mutants}
    return sorted({f"{name}Tests" if os.path.isdir(f"Tests/{name}Tests") else "IndoorLocalizationTests" for name in targets})


def run(program, tests, limit, **environment):
    """Runs tests; returns whether they passed, "failed", "crashed" or "time limit" otherwise, and the duration."""
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        began = time.monotonic()
        # A crash without a backtrace, which would take seconds.
        environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no", "TMPDIR": folder, **environment}
        process = subprocess.Popen(
            [program, tests], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
            start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        try:
            status = process.wait(limit)
            result = None if status == 0 else "crashed" if status < 0 else "failed"
        except subprocess.TimeoutExpired:
            result = "time limit"
        try:
            # With the processes that it started.
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        return result, time.monotonic() - began


class Tests:
    """The classes of tests: how long each takes, and which mutants it reaches."""

    def __init__(self, program, targets, jobs):
        self.program = program
        listed = subprocess.run([program, "--list-tests"], check=True, capture_output=True, text=True).stdout
        self.classes = sorted({line.split("/")[0] for line in listed.splitlines() if line.startswith(tuple(f"{t}." for t in targets))})
        self.seconds, self.reached = {}, {}
        with ThreadPoolExecutor(jobs) as pool:
            for name, result in zip(self.classes, pool.map(self.record, self.classes)):
                if result:
                    print(f"{name}: {result} without a mutant, so it is left out", flush=True)

    def record(self, name):
        with tempfile.NamedTemporaryFile("r", prefix="mutants-") as file:
            result, seconds = run(self.program, name, 600, MUTANTS_REACHED=file.name)
            if not result:
                self.seconds[name] = seconds
                self.reached[name] = {int(line) for line in file}
        return result

    def of(self, number):
        """Returns the classes that reach a mutant, the fastest first."""
        return sorted((name for name in self.reached if number in self.reached[name]), key=self.seconds.get)

    def judge(self, mutant):
        """Adds to a mutant by which class it is noticed, and how."""
        number, began = mutant["number"], time.monotonic()
        classes = self.of(number)
        mutant.update(classes=len(classes), noticed=None)
        for name in classes:
            result, _ = run(self.program, name, 10 + 8 * self.seconds[name], MUTANT=str(number))
            if result:
                mutant["noticed"] = f"{name} {result}"
                break
        mutant["seconds"] = round(time.monotonic() - began, 1)
        return mutant


def short(text, most=90):
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def difference(mutant):
    """Returns what a mutant exchanges; of long code, what is near the difference."""
    before, after = (" ".join(mutant[key].split()) for key in ("before", "after"))
    start = len(os.path.commonprefix([before, after])) - 30
    if start > 10:
        before, after = "…" + before[start:], "…" + after[start:]
    return f"{short(before)} → {short(after)}"


def report(mutants):
    survivors = sorted((m for m in mutants if not m["noticed"]), key=lambda m: (m["file"], m["line"]))
    for mutant in survivors:
        tests = f"{mutant['classes']} classes of tests" if mutant["classes"] else "no test reaches it"
        print(f"{mutant['file']}:{mutant['line']}: {mutant['kind']}: {difference(mutant)} ({tests})")
    print()
    for path in dict.fromkeys(m["path"] for m in mutants):
        of_path = [m for m in mutants if m["path"] == path]
        noticed = sum(1 for m in of_path if m["noticed"])
        print(f"{path}: {noticed} of {len(of_path)} noticed, {100 * noticed / len(of_path):.0f} %")
    noticed = len(mutants) - len(survivors)
    print(f"all: {noticed} of {len(mutants)} noticed, {100 * noticed / len(mutants):.1f} %")


def main():
    parser = argparse.ArgumentParser(prog=".ci/mutants", description="Breaks code on purpose and lists what no test notices.")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (1)")
    parser.add_argument("--count", type=int, default=50, help="the number of mutants of each PATH (50); 0 for all")
    parser.add_argument("--tests", default="", help="test targets, with commas; by default those of the broken targets")
    parser.add_argument("--again", action="store_true", help="only what survived the last run")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a folder or a file of Swift sources")
    arguments = parser.parse_args()
    arguments.paths = [path.rstrip("/") for path in arguments.paths] or PATHS
    began = time.monotonic()
    if arguments.again:
        with open(RESULTS) as file:
            mutants = json.load(file)
    else:
        mutants = sample(arguments)
    targets = arguments.tests.split(",") if arguments.tests else tests_of(mutants)
    schemata = Schemata(mutants, targets)
    program = schemata.build()
    built = time.monotonic()
    mutants = list(schemata.mutants.values())
    if arguments.count and not arguments.again:
        kept = []
        for path in arguments.paths:
            kept += [m for m in mutants if m["path"] == path][: arguments.count]
        mutants = kept
    tests = Tests(program, targets, 2)
    recorded = time.monotonic()
    waiting = [m for m in mutants if not (arguments.again and m["noticed"])]
    with ThreadPoolExecutor(2) as pool:
        for done, mutant in enumerate(pool.map(tests.judge, waiting), start=1):
            print(f"{done}/{len(waiting)} {mutant['file']}:{mutant['line']} {mutant['noticed'] or 'SURVIVED'}", file=sys.stderr, flush=True)
    with open(RESULTS, "w") as file:
        json.dump(mutants, file, indent=1)
    report(mutants)
    ended = time.monotonic()
    print(
        f"{built - began:.0f} s to build, {recorded - built:.0f} s to run {len(tests.classes)} classes of tests once, "
        f"{ended - recorded:.0f} s to run them with mutants")


main()
