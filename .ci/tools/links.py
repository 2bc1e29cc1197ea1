"""The links of Markdown files to the repository, including images and headings, and the names of tests
(`Class.testMethod`).

On the pages in TESTED, each row of a table with the column "test" must name a test.

Links between pages of a DocC catalogue (`<doc:...>`, ``Symbol``) are not checked, because DocC checks them.
"""

import os
import re

FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*<?([^\s>]+)|(?:src|href)=\"([^\"]+)\"", re.MULTILINE)
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)

TEST = re.compile(r"`([A-Z]\w+Tests\.test\w+)`")
CLASS = re.compile(r"class (\w+Tests)\b|func (test\w+)\(")
# The pages by name, and whether each of their tables must have the column "test".
TESTED = {"Faults.md": True, "Limits.md": True, "ThreatModel.md": False}


def tests(texts):
    """Returns the names of the tests in Swift texts, as Class.testMethod."""
    names = set()
    for text in texts:
        owner = None
        for match in CLASS.finditer(text):
            if match.group(1):
                owner = match.group(1)
            elif owner:
                names.add(f"{owner}.{match.group(2)}")
    return names


def anchors(text):
    """Returns the anchors that GitHub creates for a page's headings."""
    seen = {}
    for heading in HEADING.findall(FENCED.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        yield slug if count == 0 else f"{slug}-{count}"


def cells(line):
    """Returns the cells of a table's row."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def untested(text, every):
    """Yields the number of each line of a table that has to name a test and doesn't, and what is wrong.

    every: whether each table must have the column "test".
    """
    lines = text.split("\n")
    column = None
    for index, line in enumerate(lines):
        if not line.startswith("|"):
            column = None
        elif index + 1 < len(lines) and re.match(r"\|[ :|-]+\|$", lines[index + 1]):
            head = cells(line)
            column = head.index("test") if "test" in head else None
            if every and column is None:
                yield index + 1, "the table has no column \"test\""
        elif column is not None and not re.match(r"\|[ :|-]+\|$", line):
            row = cells(line)
            if column >= len(row) or not TEST.search(row[column]):
                yield index + 1, f"the row \"{row[0]}\" names no test"


def problems(page, read, known):
    """Yields the line of each wrong link or name on a page, and what is wrong.

    read: returns the text of a file of the repository.
    known: the names of all tests.
    """
    text = read(page)
    # Replaced by empty lines, so that line numbers stay the same.
    prose = FENCED.sub(lambda block: "\n" * block.group().count("\n"), text)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for match in LINK.finditer(prose):
        target = next(group for group in match.groups() if group)
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(whole):
            problem = "has no target"
        elif whole.startswith(".."):
            problem = "is outside the repository"
        elif anchor and whole.endswith(".md") and anchor not in anchors(read(whole)):
            problem = "names a missing heading"
        else:
            continue
        yield prose.count("\n", 0, match.start()) + 1, f"{target} {problem}"
    name = os.path.basename(page)
    if name in TESTED:
        yield from untested(text, TESTED[name])
    for match in TEST.finditer(text):
        if match.group(1) not in known:
            yield text.count("\n", 0, match.start()) + 1, f"there is no test {match.group(1)}"
