"""The links of the documentation's static pages, and what a browser shows of them: see .ci/site.

usage: pages.py FOLDER BASE    BASE: the path of the folder on a web server, such as /indoorloc/
"""

import functools
import html.parser
import http.server
import json
import os
import re
import sys
import tempfile
import threading
import urllib.parse

sys.dont_write_bytecode = True
from browser import Browser

OTHER = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Page(html.parser.HTMLParser):
    """The links and the anchors of an HTML file."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def parts(node):
    """Yields all objects of a JSON document."""
    if isinstance(node, list):
        for one in node:
            yield from parts(one)
    elif isinstance(node, dict):
        yield node
        for one in node.values():
            yield from parts(one)


class Site:
    def __init__(self, folder, base):
        self.folder, self.base = folder, base

    def exists(self, path):
        whole = os.path.join(self.folder, path)
        return os.path.isfile(whole) or os.path.isfile(os.path.join(whole, "index.html"))

    @functools.cache
    def anchors(self, path):
        """Returns the anchors of a page, or none if there is no such page."""
        document = os.path.join(self.folder, "data", path.strip("/") + ".json")
        if os.path.isfile(document):
            return {one["anchor"] for one in parts(json.loads(read(document))) if one.get("anchor")}
        return Page(read(os.path.join(self.folder, path or "index.html"))).anchors if self.exists(path) else None

    def problem(self, page, link):
        """Returns what is wrong with a link of a page, or none."""
        if OTHER.match(link):
            return None
        address, _, anchor = link.partition("#")
        if address.startswith("/"):
            if not address.startswith(self.base):
                return f"{page}: {link} is not below {self.base}"
            path = address.removeprefix(self.base)
        else:
            path = os.path.normpath(os.path.join(os.path.dirname(page), address)) if address else page
        path = urllib.parse.unquote(path.strip("/"))
        if not self.exists(path):
            return f"{page}: {link} has no target"
        if anchor and urllib.parse.unquote(anchor) not in self.anchors(path):
            return f"{page}: {link} names a missing anchor"
        return None

    def links(self):
        """Yields each page and a link of it: of the HTML files, and of the documents that DocC's script shows."""
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                page = os.path.relpath(path, self.folder)
                if name.endswith(".html"):
                    for link in Page(read(path)).links:
                        yield page, link
                elif name.endswith(".json") and page.startswith(("data/", "index/")):
                    for one in parts(json.loads(read(path))):
                        yield from ((page, link) for link in self.documented(page, one))
        for address, *_ in json.loads(read(os.path.join(self.folder, "search.json"))):
            yield "search.json", self.base + address

    def documented(self, page, part):
        """Yields the links of a part of a document. DocC's script puts the base path before them."""
        if page.startswith("index/"):
            if "path" in part:
                yield self.base + part["path"].removeprefix("/")
        elif part.get("type") in ("image", "video", "download"):
            for variant in part.get("variants", []):
                yield self.base + variant["url"].removeprefix("/")
        elif isinstance(part.get("url"), str) and part.get("type") in ("topic", "section"):
            yield self.base + part["url"].removeprefix("/")
        elif part.get("type") == "link":
            address = part.get("destination") or part["url"]
            yield address if OTHER.match(address) else self.base + address.removeprefix("/")

    def broken(self):
        """Returns the number of links, and what is wrong with them."""
        count, known = 0, {}
        for page, link in self.links():
            count += 1
            key = link if link.startswith("/") else (page, link)
            if key not in known:
                known[key] = self.problem(page, link)
        return count, [problem for problem in known.values() if problem]


def serve(folder, base):
    """Serves a folder below a path of a free port of this machine. Returns the server and the port."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def translate_path(self, path):
            if not path.startswith(base):
                return os.path.join(folder, "outside", "of", "the", "site")
            return super().translate_path("/" + path.removeprefix(base))

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, server.server_address[1]


class Reader:
    """Reads pages in Chromium."""

    def __init__(self, browser, site, port):
        self.browser, self.site = browser, site
        self.start = f"http://127.0.0.1:{port}{site.base}"
        self.found = []
        for domain in ("Network", "Log", "Runtime", "Page"):
            browser.send(f"{domain}.enable")

    def open(self, path):
        """Opens a page, and waits until it shows its heading. Returns the heading."""
        self.browser.events.clear()
        self.browser.send("Page.navigate", url=self.start + path)
        # The address of the page before remains until the answer arrives.
        self.browser.wait(f"location.href === {json.dumps(self.start + path)} && document.querySelector('h1')?.innerText.trim()")
        heading = self.browser.evaluate("document.querySelector('h1').innerText.trim()")
        self.collect(path)
        return heading

    def collect(self, path):
        for event in self.browser.events:
            parameters = event["params"]
            if event["method"] == "Network.responseReceived" and parameters["response"]["status"] >= 400:
                self.found.append(f"{path}: {parameters['response']['status']} for {parameters['response']['url']}")
            elif event["method"] == "Runtime.exceptionThrown":
                self.found.append(f"{path}: {parameters['exceptionDetails']['text']}")

    def expect(self, path, what, is_true):
        if not is_true:
            self.found.append(f"{path}: {what}")

    def read(self, path, title):
        """Checks that a page shows its title, and that its links have targets. Returns the number of links."""
        heading = self.open(path)
        # The name of a declaration has places where a line may break.
        self.expect(path, f"shows \"{heading}\", not \"{title}\"", "".join(heading.split()) == "".join(title.split()))
        links = self.browser.evaluate("Array.from(document.querySelectorAll('main a[href]'), (link) => link.getAttribute('href'))")
        # DocC's script adds anchors of its own; only the page itself knows them.
        missing = self.browser.evaluate(
            "Array.from(document.querySelectorAll('main a[href]')).filter((link) => link.pathname === location.pathname && link.hash"
            " && !document.getElementById(decodeURIComponent(link.hash.slice(1)))).map((link) => link.getAttribute('href'))")
        self.found += [f"{path}: {link} names a missing anchor" for link in missing]
        own = self.site.base + path
        others = [link for link in links if not link.startswith("#") and link.partition("#")[0].rstrip("/") != own.rstrip("/")]
        self.found += [problem for problem in (self.site.problem(path, link) for link in others) if problem]
        broken = self.browser.evaluate(
            "Promise.all(Array.from(document.querySelectorAll('main img'), (image) => image.decode().then(() => null, () => image.src)))")
        self.found += [f"{path}: the image {image} can't be shown" for image in broken if image]
        return len(links)

    def search(self):
        """Searches on the first page."""
        self.open("")
        for words, title in [("localizer", "Localizer"), ("planning beacons", "Planning beacons"), ("urban canyons zzz", None)]:
            self.browser.evaluate(
                f"(() => {{ const field = document.getElementById('search'); field.value = {json.dumps(words)};"
                "document.getElementById('found').textContent = ''; field.dispatchEvent(new Event('input')); })()")
            self.browser.wait("document.getElementById('found').textContent !== ''")
            shown = self.browser.evaluate("document.querySelector('#results a')?.textContent ?? null")
            self.expect("search", f"the first answer to \"{words}\" is {shown}, not {title}", shown == title)
            address = self.browser.evaluate("document.querySelector('#results a')?.getAttribute('href') ?? null")
            self.found += [self.site.problem("index.html", address)] if address and self.site.problem("index.html", address) else []

    def search_names(self):
        """Searches with the key of DocC's pages, among the names of a library's declarations."""
        self.open("documentation/indoorlocalization/")
        self.browser.wait("document.querySelector('.navigator-card-item') !== null")
        self.browser.send("Input.dispatchKeyEvent", type="keyDown", key="/", code="Slash", text="/")
        self.browser.wait("document.querySelector('.quick-navigation input') !== null")
        self.browser.evaluate("document.querySelector('.quick-navigation input').focus()")
        self.browser.send("Input.insertText", text="FloorPlanLocalizer")
        self.browser.wait("document.querySelector('.quick-navigation a[href$=\"/floorplanlocalizer\"]') !== null")


def main():
    folder, base = os.path.abspath(sys.argv[1]), sys.argv[2]
    site = Site(folder, base)
    entries = json.loads(read(os.path.join(folder, "search.json")))
    count, found = site.broken()
    # All articles, the first page of each library, and every 200th declaration.
    articles = [(path, title) for path, title, kind, *_ in entries if kind in ("article", "page", "module")]
    declarations = [(path, title) for path, title, kind, *_ in entries if kind not in ("article", "page", "module")]
    modules = [path for path, _ in articles if path.count("/") == 2]
    for what, number, least in [("links", count, 20_000), ("articles", len(articles), 80), ("libraries", len(modules), 15),
                                ("declarations", len(declarations), 2_000)]:
        if number < least:
            found.append(f"there are only {number} {what}: is the site whole?")
    server, port = serve(folder, base)
    shown = 0
    with tempfile.TemporaryDirectory() as home:
        browser = Browser(home)
        try:
            reader = Reader(browser, site, port)
            pages = articles + declarations[::200]
            for path, title in pages:
                shown += reader.read("" if path == "index.html" else path, title)
            reader.search()
            reader.search_names()
        finally:
            browser.close()
    server.shutdown()
    found += reader.found
    print("\n".join(found), end="\n" if found else "")
    print(f"| {len(entries)} pages, {count} links; {len(pages)} pages with {shown} links in Chromium")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
