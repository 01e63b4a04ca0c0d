"""diff.py HEAP BY OLD NEW FILE: is a diff the difference of what the files have?

FILE is what `mprof diff --verbose --depth=0 --by=BY OLD NEW` printed; old.sexp and
new.sexp have what `mprof --sexp` prints of the two, and OLD.folded and NEW.folded their
chains.  All rows must have these numbers, and what is no row must not have changed.
Names are made alike here as the manual page says, in another way than the command does.
Prints how many rows there are.
"""
import re
import sys
from collections import Counter

from exports import folded, parse, plist

heap, by, old, new, file = sys.argv[1:6]
ROW = re.compile(r" *(\d+) +(\d+) +([+-]?\d+) +(\S*) *\| +(.*?) \| (.*)$")


def alike(name):
    name = re.sub(r"^\(LAMBDA #\d+", "(LAMBDA", name)
    return re.sub(
        r"""(?<![^ ()'"`,;|])(#:[^ ()'"`,;|]*?[^ ()'"`,;|\d:]|(?:[^ ()'"`,;|]*:)?[gG])\d+"""
        r"""(?![^ ()'"`,;|])""",
        r"\1",
        name,
    )


def profile(path):
    with open(path) as stream:
        whole = plist(parse(stream.read()))
    return plist(whole[":c-heap"]) if heap == "c" else whole


def visible(name):
    return re.sub(r"\\x\{[0-9a-f]+\}", "?", name)


def by_function(path):
    """Names with bytes in all, itself and allocations; once for several of a name."""
    found = {}
    for function in map(plist, profile(path)[":functions"]):
        name = alike(visible(function[":name"][0]))
        numbers = [
            sum(function[":total"][1::2]),
            sum(function[":total"][::2]),
            sum(function[":self"][1::2]),
        ]
        if heap == "c":
            numbers += [numbers[2] - sum(function[":freed"][1::2]), function[":at-peak"]]
        found.setdefault(name, []).append(numbers)
    return found


def by_chain(path):
    sums = Counter()
    with open(path) as stream:
        for chain, number in folded(stream.read()):
            sums[" > ".join(alike(name) for name in chain)] += number
    return sums


def by_type(path):
    sums = Counter()
    if heap == "c":
        for size, _, number, *_ in profile(path)[":sizes"]:
            name = f"{size} bytes each" if isinstance(size, int) else "more than 1024 bytes each"
            sums[name] += number
    else:
        for type_bin in map(plist, profile(path)[":bins"]):
            name = type_bin[":type"][0]
            if isinstance(type_bin[":name"], tuple):
                name += "  " + alike(type_bin[":name"][0])
            sums[name] += type_bin[":object-bytes"] + type_bin[":storage-bytes"]
    return sums


rows, total = [], None
with open(file) as stream:
    for line in stream:
        match = ROW.match(line)
        if not match:
            continue
        was, now, change, _, others, name = match.groups()
        row = (name, int(was), int(now), [int(n) for n in others.split()])
        assert row[2] - row[1] == int(change), line
        if name == "<TOTAL>":
            total = row
        else:
            rows.append(row)
sides = profile("old.sexp"), profile("new.sexp")
if total is None:
    assert sides[0][":bytes"] == sides[1][":bytes"], "there is no table"
    print(0)
    sys.exit()
assert total[1:3] == (sides[0][":bytes"], sides[1][":bytes"]), total
assert total[3][0] == sides[1][":allocs"] - sides[0][":allocs"], total
if by != "function":
    change = sum(row[2] - row[1] for row in rows)
    assert change == total[2] - total[1], (change, total)
    assert sum(row[3][0] for row in rows) == total[3][0]
else:
    assert sum(row[3][1] for row in rows) == total[2] - total[1]


def check(name, found, wanted):
    if found != wanted:
        sys.exit(f"{name}: {found}, not {wanted}")


if by == "function":
    before, after = by_function("old.sexp"), by_function("new.sexp")
    for name in before.keys() | after.keys():
        was, now = before.get(name, []), after.get(name, [])
        found = [row for row in rows if row[0] == name]
        change = [sum(n) for n in zip(*([-x for x in numbers] for numbers in was), *now)]
        itself = change[2:]
        # Of several that are one it is not known here what they have together.
        if len(was) < 2 and len(now) < 2:
            for row in found:
                check(name, row[1:3], (sum(n[0] for n in was), sum(n[0] for n in now)))
            check(name, [sum(row[3][0] for row in found)], change[1:2])
        check(name, [sum(n) for n in zip(*(row[3][1:] for row in found))] or [0] * len(itself), itself)
    check("other rows", {row[0] for row in rows} - (before.keys() | after.keys()), set())
elif by in ("chain", "type"):
    read = by_chain if by == "chain" else by_type
    paths = (f"{old}.folded", f"{new}.folded") if by == "chain" else ("old.sexp", "new.sexp")
    before, after = map(read, paths)
    found = {}
    for name, was, now, _ in rows:
        name = name.removeprefix("|| > ").replace(";", ":")
        assert name not in found, name
        if (was, now) != (0, 0):
            found[name] = (was, now)
    for name in before.keys() | after.keys():
        numbers = before[name], after[name]
        if name in found or numbers[0] != numbers[1]:
            check(name, found.get(name), numbers)
    check("other rows", found.keys() - (before.keys() | after.keys()), set())
print(len(rows))
