"""Checks the reports of EnduranceRunner on standard input, one JSON object a line, and prints them."""
import json, sys

failed = False
for line in sys.stdin:
    report = json.loads(line)
    before, after = report["before"], report["after"]
    growth = {name: after[name] - before[name] for name in before}
    problems = []
    if "cycles" in report:
        print(f"| {report['subject']}: {report['cycles']} cycles in {report['seconds']:.0f} s: "
              f"heap {growth['heapBytes']:+d} bytes, threads {growth['threads']:+d}, "
              f"descriptors {growth['descriptors']:+d}, {report['survivors']} objects left")
        # Servers, clients and the runtime keep buffers, whose number depends on the times of their threads. The smallest
        # object has 32 bytes, so one object in each of 10,000 cycles exceeds this.
        limit = max(256 * 1024, 16 * report["cycles"])
        if report["survivors"]: problems.append("objects survive")
    else:
        print(f"| {report['hours']:.1f} h in {report['seconds']:.0f} s: {report['readings']} readings, "
              f"{report['positions']} positions, {report['droppedElements']} dropped; "
              f"heap {growth['heapBytes']:+d} bytes ({report['heapBytesPerHour']:+.0f} per hour), "
              f"resident {growth['residentKilobytes']:+d} kB; median error {report['firstError']:.2f} m at first, "
              f"{report['lastError']:.2f} m at last; 90 % {report['firstPercentile90']:.2f} m, "
              f"{report['lastPercentile90']:.2f} m")
        limit = 256 * 1024
        if report["droppedElements"]: problems.append("elements were dropped")
        if report["errors"]: problems.append("errors were emitted: " + "; ".join(report["errors"]))
        if abs(report["firstError"] - report["lastError"]) > 0.5: problems.append("the error of the positions changed")
    if growth["heapBytes"] > limit: problems.append("memory grows")
    if growth["threads"] > 2: problems.append("threads grow")
    if growth["descriptors"] > 0: problems.append("descriptors grow")
    for problem in problems:
        print("soak: " + problem, file=sys.stderr)
        failed = True
sys.exit(1 if failed else 0)
