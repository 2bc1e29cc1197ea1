"""Chromium, for pictures of pages and checks of them."""

import json
import os
import subprocess
import sys
import time


class Browser:
    """Chromium with a page, over the pipes of DevTools: descriptors 3 and 4."""

    # A page that isn't ready after this many seconds has failed.
    patience = 30

    def __init__(self, folder):
        script = 'exec "$(command -v chromium-headless-shell || echo chromium)" "$@" 3<&0 4>&1 0</dev/null 1>&2'
        flags = [
            f"--user-data-dir={folder}/profile", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--remote-debugging-pipe", "--disable-background-networking", "--hide-scrollbars",
            "--force-color-profile=srgb",
        ]
        self.process = subprocess.Popen(
            ["sh", "-c", script, "sh"] + flags, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=folder, TMPDIR=folder))
        self.session = None
        self.count = 0
        self.rest = b""
        # What the page reported, such as answers of a server, if the caller asked for it.
        self.events = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def send(self, method, **parameters):
        self.count += 1
        command = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        self.process.stdin.write(json.dumps(command).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            while b"\0" not in self.rest:
                part = self.process.stdout.read1(1 << 16)
                if not part:
                    sys.exit("browser: chromium has ended")
                self.rest += part
            message, _, self.rest = self.rest.partition(b"\0")
            reply = json.loads(message)
            if "method" in reply:
                self.events.append(reply)
            if reply.get("id") == self.count:
                if "error" in reply:
                    sys.exit(f"browser: {method}: {reply['error']['message']}")
                return reply["result"]

    def evaluate(self, expression):
        reply = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            sys.exit(f"browser: {expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + self.patience
        while not self.evaluate(expression):
            if time.monotonic() > end:
                sys.exit(f"browser: after {self.patience} s it is still not true that {expression}")
            time.sleep(0.05)

    def click(self, x, y):
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"]:
            button = "none" if kind == "mouseMoved" else "left"
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
