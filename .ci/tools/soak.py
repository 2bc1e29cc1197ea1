"""Runs `indoorloc serve` in real time on a simulated walk that repeats: soak.py INDOORLOC MINUTES

Readers of the live map, of the metrics and of the MQTT broker are attached; one reader of the live map never reads.
Prints the resources at intervals. Fails if memory, threads or descriptors grow after the warm-up, if a reading is lost,
or if the error of the positions in the last rounds differs from that in the first rounds.
"""
import bisect, collections, json, math, os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time
import urllib.request

tool, minutes = sys.argv[1], float(sys.argv[2])
folder = tempfile.mkdtemp(prefix="soak-")
processes = []


def start(*command, **options):
    processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, **options))
    return processes[-1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def walk():
    """Writes the recording of a walk in circles; returns its path, its truths and the duration of a round."""
    with open("Fixtures/office/paths/track-upper.json") as file:
        document = json.load(file)
    there = document["points"]
    circle = there + there[-2:0:-1]

    def record(rounds, name):
        document["points"] = circle * rounds + circle[:1]
        path, recording = write(name + ".json", json.dumps(document)), os.path.join(folder, name + ".jsonl")
        subprocess.run([tool, "simulate", "--venue", "Fixtures/office", "--path", path, "-o", recording], check=True)
        with open(recording) as file:
            return recording, [entry for entry in map(json.loads, file) if entry["type"] == "truth"]

    duration = record(1, "round")[1][-1]["t"]
    return *record(math.ceil(minutes * 60 / duration), "walk"), duration


def usage(process):
    """Returns kilobytes of anonymous memory, threads and descriptors."""
    with open(f"/proc/{process.pid}/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    kilobytes, threads = (int(fields[name].split()[0]) for name in ("RssAnon", "Threads"))
    return kilobytes, threads, len(os.listdir(f"/proc/{process.pid}/fd"))


def slope(samples):
    """Returns the least-squares slope of kilobytes over hours."""
    return statistics.linear_regression(*zip(*samples)).slope


def errors_by_round(lines, truths, duration):
    instants = [truth["t"] for truth in truths]
    rounds = collections.defaultdict(list)
    for line in lines:
        if line["type"] != "position":
            continue
        after = min(max(bisect.bisect(instants, line["t"]), 1), len(truths) - 1)
        first, second = truths[after - 1], truths[after]
        span = second["t"] - first["t"]
        share = (line["t"] - first["t"]) / span if span else 0
        place = [first[axis] + share * (second[axis] - first[axis]) for axis in "xy"]
        wrong_floor = 15 if line["mapId"] != second["mapId"] else 0
        rounds[int(line["t"] // duration)].append(math.dist(place, (line["x"], line["y"])) + wrong_floor)
    return [statistics.median(rounds[index]) for index in sorted(rounds)]


def main():
    recording, truths, duration = walk()
    broker = None
    if shutil.which("mosquitto"):
        broker = free_port()
        start("mosquitto", "-c", write("broker.conf", f"listener {broker} 127.0.0.1\nallow_anonymous true\n"),
              stderr=subprocess.DEVNULL)
        time.sleep(1)
    page, output = free_port(), os.path.join(folder, "output")
    sharing = ["--share", f"mqtt://127.0.0.1:{broker}/hall"] if broker else []
    log = open(os.path.join(folder, "log"), "w")
    service = start(
        tool, "serve", "--venue", "Fixtures/office", "--replay", recording, "--state-directory", folder,
        "--output", output, "--http", f"127.0.0.1:{page}", *sharing, stderr=log)
    begin = time.monotonic()
    watched = open(os.path.join(folder, "watched"), "w")
    streamed = open(os.path.join(folder, "streamed"), "w")
    absent = None
    samples, metrics, deaf_joins = [], "", 0
    while time.monotonic() - begin < minutes * 60 and service.poll() is None:
        time.sleep(10)
        elapsed = time.monotonic() - begin
        if absent is None:
            start("curl", "-sN", f"http://127.0.0.1:{page}/api/v1/stream", stdout=streamed)
            if broker:
                start(tool, "share", "watch", f"mqtt://127.0.0.1:{broker}/hall", stdout=watched, stderr=log)
            absent = True
            deaf = None
        # The server closes a reader that doesn't read; another one comes.
        if deaf_joins * 120 <= elapsed:
            deaf_joins += 1
            if deaf:
                deaf.close()
            deaf = socket.create_connection(("127.0.0.1", page))
            deaf.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{page}/metrics", timeout=30) as reply:
            metrics = reply.read().decode()
        if service.poll() is None:
            samples.append((elapsed / 3600, *usage(service)))
    service.send_signal(signal.SIGTERM)
    status = service.wait(timeout=60)
    with open(output) as file:
        lines = [json.loads(line) for line in file]
    errors = errors_by_round(lines, truths, duration)
    warm = [sample for sample in samples if sample[0] * 60 >= min(10, minutes / 3)]
    lost = sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("indoorloc_readings_lost_total"))
    growth = [warm[-1][index] - warm[0][index] for index in (1, 2, 3)]
    pace = slope([(hours, kilobytes) for hours, kilobytes, _, _ in warm])
    first, last = statistics.median(errors[1:6] or errors), statistics.median(errors[-6:-1] or errors)
    with open(streamed.name) as file:
        frames = sum(line.startswith("event: frame") for line in file)
    with open(watched.name) as file:
        shared = sum('"position"' in line for line in file)
    print(f"| {minutes:g} min in real time: {len(lines)} lines, {frames} frames streamed, {shared} positions shared, "
          f"{deaf_joins} readers that never read")
    print(f"| memory {warm[0][1]} to {warm[-1][1]} kB ({pace:+.0f} kB/h), threads {growth[1]:+d}, "
          f"descriptors {growth[2]:+d}, readings lost {lost:g}, exit status {status}")
    print(f"| median error per round: first rounds {first:.2f} m, last rounds {last:.2f} m")
    problems = []
    # A leak of 1 kB a second would show as 3,600 kB/h; the allocator's caches fill within a few hundred kB.
    if growth[0] > 2048: problems.append("memory grows")
    if growth[1] > 2 or growth[2] > 4: problems.append("threads or descriptors grow")
    if lost: problems.append("readings were lost")
    if status: problems.append("the service failed: " + open(log.name).read()[-2000:])
    if not frames: problems.append("the live map streamed nothing")
    if broker and not shared: problems.append("nothing was shared")
    if len(errors) > 8 and abs(first - last) > 0.5: problems.append("the error changed")
    return problems


try:
    problems = main()
finally:
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()
    if not os.environ.get("SOAK_KEEP"):
        shutil.rmtree(folder, ignore_errors=True)
for problem in problems:
    print("soak: " + problem, file=sys.stderr)
sys.exit(1 if problems else 0)
