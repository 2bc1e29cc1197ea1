"""Breaks code on purpose and lists what no test notices: run.py [OPTION...] [PATH...]"""

import argparse
import hashlib
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
from package import build, target_of

RESULTS = ".build/mutants/results.json"
PATHS = [
    "Sources/IndoorPositioning", "Sources/LocalizationSession/Machine", "Sources/BeaconScanning/Decoding",
    "Sources/VenuePackets/Packet",
]
# A broken program may allocate without end.
MEMORY = 8 << 30
JOBS = 2


def sample(arguments):
    """Returns mutants of each path, the same for the same seed. No two of them share a line."""
    generator, chosen = random.Random(arguments.seed), []
    for path in arguments.paths:
        files = subprocess.run(["find", path, "-name", "*.swift"], check=True, capture_output=True, text=True).stdout
        found = subprocess.run(
            [".build/mutants/find", *sorted(files.splitlines())], check=True, capture_output=True, text=True).stdout
        mutants = [json.loads(line) for line in found.splitlines()]
        generator.shuffle(mutants)
        taken, count = {}, 0
        for mutant in mutants:
            # Some of them don't compile.
            if count == arguments.count * 5 // 4:
                break
            first = mutant["line"]
            lines = set(range(first, first + mutant["before"].count("\n") + 1))
            if lines.isdisjoint(taken.setdefault(mutant["file"], set())):
                taken[mutant["file"]] |= lines
                count += 1
                chosen.append({**mutant, "path": path, "number": len(chosen) + 1})
    return chosen


def digest_of(mutants):
    """Returns a checksum of the files of mutants, whose places are only right for these files."""
    digest = hashlib.sha256()
    for path in sorted({mutant["file"] for mutant in mutants}):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def tests_of(mutants):
    """Returns the test targets of the targets of mutants."""
    names = {f"{target_of(mutant['file'])}Tests" for mutant in mutants}
    return sorted({name if os.path.isdir(f"Tests/{name}") else "IndoorLocalizationTests" for name in names})


def run(program, tests, limit, **environment):
    """Runs tests; returns "passed", "failed", "crashed" or "time limit", and the duration."""
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        # A backtrace of a crash would take seconds.
        environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no", "TMPDIR": folder, **environment}
        began = time.monotonic()
        process = subprocess.Popen(
            [program, tests], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
            start_new_session=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        try:
            status = process.wait(limit)
            result = "passed" if status == 0 else "crashed" if status < 0 else "failed"
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

    def __init__(self, program, targets, seconds):
        self.program, self.most = program, seconds
        listed = subprocess.run([program, "--list-tests"], check=True, capture_output=True, text=True).stdout
        names = {line.split("/")[0] for line in listed.splitlines() if line.split(".")[0] in targets}
        self.seconds, self.reached = {}, {}
        with ThreadPoolExecutor(JOBS) as pool:
            for name, result in zip(sorted(names), pool.map(self.record, sorted(names))):
                if result != "passed":
                    print(f"{name} is left out: {result} without a mutant", flush=True)

    def record(self, name):
        with tempfile.NamedTemporaryFile("r", prefix="mutants-") as file:
            result, seconds = run(self.program, name, 600, MUTANTS_REACHED=file.name)
            if result == "passed":
                self.seconds[name] = seconds
                self.reached[name] = {int(line) for line in file}
            return result

    def judge(self, mutant):
        """Runs the classes that reach a mutant, the fastest first, until one doesn't pass or the time is over."""
        classes = sorted((name for name in self.reached if mutant["number"] in self.reached[name]), key=self.seconds.get)
        mutant["result"], left = "survived" if classes else "not reached", self.most
        for name in classes:
            left -= self.seconds[name]
            if left < 0 and name != classes[0]:
                break
            result, _ = run(self.program, name, 10 + 5 * self.seconds[name], MUTANT=str(mutant["number"]))
            if result != "passed":
                mutant["result"] = f"{name} {result}"
                break
        print(f"{mutant['number']} {mutant['file']}:{mutant['line']} {mutant['result']}", file=sys.stderr, flush=True)


def difference(mutant):
    """Returns what a mutant exchanges; of long code, what is near the difference."""
    before, after = (" ".join(mutant[key].split()) for key in ("before", "after"))
    start = max(len(os.path.commonprefix([before, after])) - 30, 0)
    return " → ".join(("…" if start else "") + text[start : start + 80] for text in (before, after))


def report(mutants):
    missed = [mutant for mutant in mutants if mutant["result"] in ("survived", "not reached")]
    for mutant in sorted(missed, key=lambda mutant: (mutant["file"], mutant["line"])):
        print(f"{mutant['file']}:{mutant['line']}: {mutant['kind']} {mutant['result']}: {difference(mutant)}")
    for path in sorted({mutant["path"] for mutant in mutants}) + ["Sources"]:
        results = [mutant["result"] for mutant in mutants if mutant["path"].startswith(path)]
        survived, unreached = results.count("survived"), results.count("not reached")
        noticed = len(results) - survived - unreached
        print(f"{path}: {noticed} of {len(results)} noticed ({100 * noticed / len(results):.0f} %), {survived} survived, "
              f"{unreached} not reached")


def main():
    parser = argparse.ArgumentParser(prog=".ci/mutants", description="Breaks code on purpose and lists what no test notices.")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (1)")
    parser.add_argument("--count", type=int, default=50, help="the number of mutants of each PATH (50)")
    parser.add_argument("--seconds", type=int, default=25, help="the time of the tests of a mutant (25)")
    parser.add_argument("--again", action="store_true", help="the mutants of the last run, but only those that no test noticed")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a folder or a file of Swift sources")
    arguments = parser.parse_args()
    arguments.paths = [path.rstrip("/") for path in arguments.paths] or PATHS
    began = time.monotonic()
    if arguments.again:
        with open(RESULTS) as file:
            results = json.load(file)
        mutants = results["mutants"]
        if results["digest"] != digest_of(mutants):
            raise SystemExit("mutants: the sources have changed since the last run; run it without --again")
    else:
        mutants = sample(arguments)
    targets = tests_of(mutants)
    program, mutants = build(mutants, targets)
    if not arguments.again:
        for path in arguments.paths:
            for mutant in [mutant for mutant in mutants if mutant["path"] == path][: arguments.count]:
                mutant["result"] = None
    chosen = [mutant for mutant in mutants if "result" in mutant]
    built = time.monotonic()
    tests = Tests(program, targets, arguments.seconds)
    recorded = time.monotonic()
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(tests.judge, [m for m in chosen if m["result"] in (None, "survived", "not reached")]))
    with open(RESULTS, "w") as file:
        json.dump({"digest": digest_of(mutants), "mutants": mutants}, file, indent=1)
    report(chosen)
    print(f"| {built - began:.0f} s to build, {recorded - built:.0f} s for {len(tests.seconds)} classes of tests without a "
          f"mutant, {time.monotonic() - recorded:.0f} s with mutants")


main()
