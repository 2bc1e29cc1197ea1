"""Runs the checks: see .ci/run."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import passed

# One stage after the other. The lanes of a stage run side by side: most tests use one processor. In the order of
# dependencies: `build` makes the debug build that the others use, and `optimize` the optimized one of `release`. It is
# the last of its lane, because `test` starts with a build of its own, and SwiftPM makes only one build at a time.
STAGES = [
    [["apt", "lint", "build"]],
    [["test"], ["docs", "link", "fixtures", "btmon", "vectors", "optimize"]],
    [["release"]],
]
# The other checks. Each of them names its inputs.
LONG = ["examples", "guest", "fuzz", "golden", "accuracy", "learning", "thread", "address", "package", "debian13", "debian-swift", "site", "soak", "loaded"]
# A check that takes longer has failed; and all of a run without names have to end before the 90 minutes after which
# continuous integration ends a job.
LIMIT, LIMIT_OF_ALL = 2460, 5100
# The time that has to be left for a check that runs because its inputs changed.
ENOUGH = 900
# For checks that a person started: a day and a night.
PATIENCE = 24 * 3600
# The exit status of a check that can't run on this machine.
SKIPPED = 77
LOGS = ".build/ci"


class Run:
    def __init__(self, limit, deadline):
        self.limit = limit
        self.deadline = deadline
        self.results = {}
        # The first errors of the checks that failed, which a long output would hide.
        self.errors = []
        self.processor = 0.0
        self.groups = set()
        # Lanes print in whole blocks.
        self.lock = threading.Lock()
        self.environment = dict(os.environ)

    def check(self, name):
        """Runs a check, and prints its result."""
        start = time.monotonic()
        log = f"{LOGS}/{name}.log"
        left = max(min(self.limit, self.deadline - start), 1)
        with open(log, "wb") as file:
            process = subprocess.Popen([f".ci/{name}"], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True, env=self.environment)
            self.groups.add(process.pid)
            timer = threading.Timer(left, self.end, [process.pid, file])
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status = os.waitstatus_to_exitcode(status)
            timer.cancel()
            self.groups.discard(process.pid)
        seconds, processor = time.monotonic() - start, usage.ru_utime + usage.ru_stime
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        word = {0: "passed", SKIPPED: "skipped"}.get(status, f"FAILED ({status})")
        if status in (0, SKIPPED):
            # Lines that begin with "| " are printed even if the check passed.
            lines = [line[2:] for line in lines if line.startswith("| ")]
            errors = []
        else:
            errors = [line for line in lines if "error: " in line] or lines[-1:]
        with self.lock:
            self.errors += [f"{name}: {line[:400]}" for line in errors[:10]]
            self.results[name] = status
            self.processor += processor
            print(f"{name:<12} {seconds:5.0f} s {processor:6.0f} s  {word}", *lines[-200:], sep="\n    ", flush=True)
        # Its products need not be planned again by each of the others.
        if name == "build" and status == 0:
            self.environment["DEBUG_BUILD_IS_CURRENT"] = "1"

    def end(self, group, file):
        file.write(b"\nthe time limit is exceeded\n")
        file.flush()
        os.killpg(group, signal.SIGTERM)
        time.sleep(5)
        if group in self.groups:
            os.killpg(group, signal.SIGKILL)

    def stage(self, lanes):
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            for future in [pool.submit(lambda lane=lane: [self.check(name) for name in lane]) for lane in lanes]:
                future.result()

    def cancel(self, *_):
        for group in list(self.groups):
            os.killpg(group, signal.SIGTERM)
        os._exit(130)


def outdated():
    """Returns the names of the long checks whose inputs have changed since they passed, and when that was."""
    record = passed.read()
    return {name: record.get(name, (None, None))[1] for name in LONG
            if record.get(name, (None, None))[0] != passed.checksum(name)}


def main():
    names = sys.argv[1:]
    ordinary = [name for stage in STAGES for lane in stage for name in lane]
    for name in names:
        if name != "--all" and name not in ordinary + LONG:
            sys.exit(f"run: there is no check {name}; the checks are {' '.join(ordinary + LONG)}")
    os.makedirs(LOGS, exist_ok=True)
    start = time.monotonic()
    is_whole = not names
    run = Run(LIMIT, start + LIMIT_OF_ALL) if is_whole else Run(PATIENCE, start + 7 * PATIENCE)
    signal.signal(signal.SIGINT, run.cancel)
    signal.signal(signal.SIGTERM, run.cancel)
    print("check          wall processors")
    if names and "--all" not in names:
        stages = [[names]]
    else:
        stages = STAGES + ([[LONG]] if names else [])
    for stage in stages:
        run.stage(stage)
    if is_whole:
        # A check without a record has to pass in `.ci/run --all` first, and is only named below.
        touched = [name for name, date in outdated().items() if date and passed.header(name)[1]]
        if touched and run.deadline - time.monotonic() > ENOUGH:
            run.stage([touched])
        late = {name: date for name, date in outdated().items() if run.results.get(name) != 0}
        if late:
            print("Checks of .ci/run --all whose inputs have changed since they last passed:")
            print("\n".join(f"    {name:<10} {date or 'no record'}" for name, date in late.items()))
    print(*run.errors, sep="\n", end="\n" if run.errors else "")
    failed = sum(status not in (0, SKIPPED) for status in run.results.values())
    skipped = [name for name, status in run.results.items() if status == SKIPPED]
    print(f"{time.monotonic() - start:.0f} s, {run.processor:.0f} s of processors"
          + (f"; skipped: {' '.join(skipped)}" if skipped else ""))
    print(f"{sum(status == 0 for status in run.results.values())} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


main()
