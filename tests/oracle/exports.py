"""exports.py SEXP HEAP METRIC KIND FILE [self]: is an export what the tables are?

SEXP is what `mprof --sexp --all-frames` prints, HEAP lisp or c, METRIC bytes,
allocs, kept or peak.  FILE holds, of KIND `folded`, a line for each chain and its
number; of KIND `top`, what `pprof -top` prints.  Each function has to have what it
has in the tables, itself and, unless it is `self`, with what it called.  Prints how many
functions there are, and the sum.
"""
import re
import sys

TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))')


def parse(text):
    """The s-expression TEXT as lists, with strings as (string,)."""
    stack, at = [[]], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        at = match.end()
        paren, string, atom = match.groups()
        if paren == "(":
            stack.append([])
        elif paren == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif string is not None:
            stack[-1].append((re.sub(r"\\(.)", r"\1", string),))
        else:
            stack[-1].append(int(atom) if re.fullmatch(r"-?\d+", atom) else atom.lower())
    return stack[0][0]


def plist(items):
    return dict(zip(items[::2], items[1::2]))


def expected(sexp, heap, metric):
    """Functions with what they have themselves, and all together or None."""
    profile = plist(parse(sexp))
    if heap == "c":
        profile = plist(profile[":c-heap"])
    known = {}
    for function in map(plist, profile[":functions"]):
        which = slice(0, None, 2) if metric == "allocs" else slice(1, None, 2)
        own, both = sum(function[":self"][which]), sum(function[":total"][which])
        if metric == "kept":
            own, both = own - sum(function[":freed"][which]), None
        elif metric == "peak":
            own, both = function[":at-peak"], None
        # What is not to be seen has its number there.
        name = re.sub(r"\\x\{[0-9a-f]+\}", "?", function[":name"][0])
        name = name.replace(";", ":")
        before = known.get(name, (0, 0))
        known[name] = (before[0] + own, None if both is None else before[1] + both)
    return known


def folded(lines):
    for line in lines:
        chain, number = line.rstrip("\n").rsplit(" ", 1)
        chain = chain.split(";")
        yield chain[-1], set(chain), int(number)


def from_folded(lines):
    found = {}
    for leaf, names, number in folded(lines):
        for name in names:
            own, both = found.get(name, (0, 0))
            found[name] = (own + (number if name == leaf else 0), both + number)
    return found


def from_top(lines):
    found, begun = {}, False
    for line in lines:
        if begun:
            words = line.split(None, 5)
            own, both = (int(words[i].removesuffix("B")) for i in (0, 3))
            found[words[5].rstrip("\n").replace(";", ":")] = (own, both)
        begun = begun or "flat%" in line
    return found


sexp, heap, metric, kind, file = sys.argv[1:6]
only_self = sys.argv[6:] == ["self"]
with open(sexp) as text:
    known = expected(text.read(), heap, metric)
with open(file) as lines:
    found = (from_folded if kind == "folded" else from_top)(lines)
for name in sorted(known.keys() | found.keys()):
    own, both = known.get(name, (0, 0))
    has = found.get(name, (0, 0))
    if name not in ("...", "<folded>") and (
        has[0] != own or (both is not None and not only_self and has[1] != both)
    ):
        sys.exit(f"{name}: {has} in the {kind}, {own} and {both} in the tables")
print(sum(own != (0, 0) for own in found.values()), sum(own for own, _ in found.values()))
