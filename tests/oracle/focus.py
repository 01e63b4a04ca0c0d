"""focus.py FOLDED HEAP FOCUS IGNORE TABLE FILE: does a table have what chains have?

FOLDED are the folded stacks of `mprof export`, outermost first; FOCUS and IGNORE
regular expressions or empty.  FILE is what mprof printed with --verbose and these,
TABLE one of direct, paths, tree and inverted: with whole chains, everything.
Prints how many rows there were, and the sum.
"""
import re
import sys
from collections import Counter

ROW = re.compile(r" *(\d+) +\([\d.]+\) +(\d+) +\([\d.]+\) (.*)")


def chains(text, focus, ignore):
    for line in text.splitlines():
        chain, number = line.rsplit(" ", 1)
        names = tuple(chain.split(";"))
        if focus and not any(re.search(focus, name) for name in names):
            continue
        if ignore and any(re.search(ignore, name) for name in names):
            continue
        yield names, int(number)


def direct(lines):
    for line in lines:
        match = re.match(r" *[\d.]+ +(\d+) \|.*\| +\d+  (.*)", line)
        if match and match[2] != "<TOTAL>":
            yield (match[2],), int(match[1])


def paths(lines):
    for line in lines:
        match = ROW.match(line)
        if match:
            path = match[3].strip()
            path = re.sub(r"^ *\d+ +\d+ +(?=\|\||\.\.\.)", "", path)
            yield tuple(path.split(" > ")[1:]), int(match[1])


def tree(lines, separator):
    """A line's level tells which line above is its caller's."""
    above = []
    for line in lines:
        match = ROW.match(line)
        if not match:
            continue
        text = match[3][1:]
        names = text.lstrip(" ")
        level = len(text) - len(names)
        chain = (above[level - 1] if level else ()) + tuple(names.split(separator))
        del above[level:]
        above.append(chain)
        yield chain, int(match[1])


folded, heap, focus, ignore, table, file = sys.argv[1:7]
with open(folded) as stream:
    wanted_chains = list(chains(stream.read(), focus, ignore))
with open(file) as stream:
    lines = stream.read().splitlines()
wanted = Counter()
for chain, number in wanted_chains:
    if table == "direct":
        wanted[chain[-1:]] += number
    elif table == "paths":
        wanted[chain] += number
    for i in range(len(chain)):
        if table == "tree":
            wanted[chain[: i + 1]] += number
        elif table == "inverted":
            wanted[chain[: -i - 2 : -1]] += number
rows = {
    "direct": lambda: direct(lines),
    "paths": lambda: paths(lines),
    "tree": lambda: tree(lines, " > "),
    "inverted": lambda: tree(lines, " < "),
}[table]()
found, count = Counter(), 0
for chain, number in rows:
    if chain in found:
        sys.exit(f"{chain} is there twice")
    found[chain] = number
    count += 1
# A line that goes on has that of all in it.
longer = Counter()
if table in ("tree", "inverted"):
    for chain, number in found.items():
        for i in range(1, len(chain)):
            longer[chain[:i]] = max(longer[chain[:i]], number)
for chain in wanted.keys() | found.keys():
    if chain not in found and chain in longer and longer[chain] == wanted[chain]:
        continue
    if found[chain] != wanted[chain]:
        sys.exit(f"{table}: {chain}: {found[chain]}, not {wanted[chain]}")
total = sum(number for _, number in wanted_chains)
has_total = any(re.search(rf"^ *{total} .*<TOTAL>", line) for line in lines)
if table != "direct" and not has_total:
    sys.exit(f"{table}: the total is not {total}")
print(count, total)
