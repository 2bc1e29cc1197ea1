#!/usr/bin/env python3
"""Checks that a test asserts each behaviour of the reference that the package claims.

A comment directly above a test states what it covers: "/// Behaviour §1.5, check 7." or "/// Behaviour §1.1, row start:".
.ci/behaviour.tsv lists the test for each of these comments, and the deciding assertion in its body. The assertion must
exist in the code of the test, so that a comment alone does not count.

behaviour.py         checks, and prints the problems
behaviour.py --renew adds a line for each new comment, with a guess of the deciding assertion, for manual correction
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / ".ci/behaviour.tsv"
MARK = re.compile(r"^\s*/// Behaviour §([0-9.]+[AB]?), (check|row) ([^.:]*(?:\.[0-9a-z][^.:]*)*)[.:]")
ASSERTION = re.compile(r"\b(?:XCTAssert\w*|expect\w*|assert\w*|Self\.expect\w*|check\w*)\(")


def body(lines, start):
    """Returns the code of a function that begins at a line, without its comments."""
    text, depth, begun = [], 0, False
    for line in lines[start:]:
        code = re.sub(r"^\s*//.*|\s//(?![^\"]*\"(?:[^\"]*\"[^\"]*\")*[^\"]*$).*$", "", line)
        text.append(code)
        bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', code)
        depth += bare.count("{") - bare.count("}")
        begun = begun or "{" in bare
        if begun and depth <= 0:
            break
    return squeezed(" ".join(text))


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


# Assertions that are common to many tests, and decide little.
COMMON = re.compile(r"status, 0|\.end\(\), 0|, \[\]\)$|isEmpty|\.idle\)$|\.count\b")


def first_assertion(code):
    """Returns the first deciding assertion up to its closing parenthesis; if it is long, only its beginning."""
    best = None
    for match in ASSERTION.finditer(code):
        depth, end = 0, match.start()
        for end in range(match.start(), len(code)):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            if depth == 0 and code[end] == ")":
                break
        found = code[match.start():end + 1]
        if best is None:
            best = found
        if not COMMON.search(found):
            return found[:140].strip()
    return best[:140].strip() if best else None


def marks():
    """Yields section, kind, name, test and the test's code for each comment."""
    for path in sorted((ROOT / "Tests").rglob("*.swift")):
        lines = path.read_text().split("\n")
        pending = []
        for number, line in enumerate(lines):
            match = MARK.match(line)
            if match:
                pending.append((match.group(1), match.group(2), match.group(3).strip()))
                continue
            test = re.match(r"\s*(?:@\w+ )*func (test\w+)\(", line)
            if test and pending:
                code = body(lines, number)
                for section, kind, name in pending:
                    yield section, kind, name, f"{path.stem}.{test.group(1)}", code
            if not line.strip().startswith(("///", "@")):
                if pending and not test:
                    print(f"{path.relative_to(ROOT)}:{number}: the comment is not above a test")
                pending = []


def main():
    known = {}
    if TABLE.exists():
        for line in TABLE.read_text().splitlines():
            if line and not line.startswith("#"):
                section, kind, name, test, assertion = line.split("\t")
                known[section, kind, name, test] = assertion
    renews = "--renew" in sys.argv
    failed, seen = False, set()
    for section, kind, name, test, code in marks():
        key = (section, kind, name, test)
        seen.add(key)
        where = f"§{section}, {kind} {name}: {test}"
        assertion = known.get(key)
        if renews and assertion is None:
            assertion = known[key] = first_assertion(code) or ""
            print(f"{where}: check whether this assertion decides: {assertion}")
        if not assertion:
            print(f"{where} has no line with an assertion in .ci/behaviour.tsv")
            failed = True
        elif not ASSERTION.match(assertion):
            print(f"{where} is not an assertion: {assertion}")
            failed = True
        elif squeezed(assertion) not in code:
            print(f"{where} does not assert: {assertion}")
            failed = True
    for key in sorted(set(known) - seen):
        if renews:
            del known[key]
        else:
            print("§{}, {} {}: no test {} has this comment".format(*key))
            failed = True
    if renews:
        def order(key):
            number = re.match(r"\d+$", key[2])
            return key[0], key[1], int(key[2]) if number else 0, key[2].lower(), key[3]
        head = "# section\tkind\tname\ttest\tthe assertion that decides\n"
        TABLE.write_text(head + "".join("\t".join((*key, known[key])) + "\n" for key in sorted(known, key=order)))
    # The claims to cover: standard input has a line "section<TAB>kind<TAB>name" for each.
    claimed = {(section, kind, name) for section, kind, name, _ in seen}
    for line in sys.stdin.read().splitlines() if not sys.stdin.isatty() else []:
        wanted = tuple(line.split("\t"))
        if wanted not in claimed:
            print("§{}, {} {}: no test covers it".format(*wanted))
            failed = True
    rows = len({key[:3] for key in seen if key[1] == "row"})
    checks = len({key[:3] for key in seen if key[1] == "check"})
    print(f"| {rows} capabilities, {checks} checks of the reference, {len(seen)} assertions")
    sys.exit(1 if failed else 0)


main()
