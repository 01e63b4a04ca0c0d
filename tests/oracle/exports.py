"""exports.py EXPECTED HEAP METRIC KIND FILE [self]: is an export what the tables are?

EXPECTED is what `mprof --sexp --all-frames` prints, or the folded stacks with
inlined functions (*.folded), which are compared with these first.  HEAP is lisp or c,
METRIC bytes, allocs, kept, peak or alive.  FILE is what a reader of KIND printed:
  folded     a line for each chain and its number
  real       the same, of which inlined functions are left out
  top        `pprof -top`
  callgrind  `callgrind_annotate`, and behind it with --inclusive=yes
  emacs      names with tabs between, innermost first, and a number
  dhat       the page of DHAT's viewer
  json       the export itself, as is
  speedscope the export itself, as is
  page       what page.js wrote into the page of `mprof html`
Each function has to have what it has there, itself and, unless it is `self`, with what
it called.  Prints how many functions there are, and the sum.
"""
import html
import json
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
        elif metric == "alive":
            own, both = own - sum(function[":dead"][which]), None
        # What is not to be seen has its number there.
        name = re.sub(r"\\x\{[0-9a-f]+\}", "?", function[":name"][0])
        name = name.replace(";", ":")
        before = known.get(name, (0, 0))
        known[name] = (before[0] + own, None if both is None else before[1] + both)
    return known


INLINED = " [inlined]"
METRICS = {"bytes": "Bytes", "allocs": "Allocs", "kept": "Kept", "peak": "Peak"}


def of_chains(chains):
    """From pairs of a chain, outermost first, and a number."""
    found = {}
    for chain, number in chains:
        for name in set(chain):
            own, both = found.get(name, (0, 0))
            found[name] = (own + (number if name == chain[-1] else 0), both + number)
    return found


def folded(text):
    for line in text.splitlines():
        chain, number = line.rsplit(" ", 1)
        yield chain.split(";"), int(number)


def without_inlined(chains):
    for chain, number in chains:
        yield [name for name in chain if not name.endswith(INLINED)], number


def plain(chains):
    for chain, number in chains:
        yield [name.removesuffix(INLINED) for name in chain], number


def from_top(text):
    found, begun = {}, False
    for line in text.splitlines():
        if begun:
            words = line.split(None, 5)
            own, both = (int(words[i].removesuffix("B")) for i in (0, 3))
            name = re.sub(r" \((partial-)?inline\)$", "", words[5])
            found[name.replace(";", ":")] = (own, both)
        begun = begun or "flat%" in line
    return found


def from_callgrind(text):
    """A recursion's inner frames, f'2 and so on, are f's itself."""
    found, lists = {}, 0
    for line in text.splitlines():
        lists += line.endswith("file:function")
        match = re.match(r" *([\d,]+) \([\d. ]+%\)  (.*?):(.*) \[.*?\]$", line)
        if lists == 0 or not match:
            continue
        number, name = int(match[1].replace(",", "")), match[3]
        base = re.sub(r"'\d+$", "", name).replace(";", ":")
        own, both = found.get(base, (0, 0))
        if lists == 1:
            found[base] = (own + number, both)
        elif not re.search(r"'\d+$", name):
            found[base] = (own, both + number)
    found.pop("[root]")
    return found


def emacs(text):
    for line in text.splitlines():
        *names, number = line.split("\t")
        yield [name.replace(";", ":") for name in reversed(names)], int(number)


def dhat(text, metric):
    column = ["bytes", "allocs", "peak", "kept"].index(metric)
    for line in re.search(r">POINTS\n(.*)\nEND<", text, re.DOTALL)[1].split("\n"):
        words = html.unescape(line).split("\t")
        names = [re.sub(r" \([^()]*:\d+\)$", "", name) for name in words[4:]]
        names = [name.replace(";", ":") for name in names if name != "[root]"]
        yield names[::-1], int(words[column])


def of_json(text, metric):
    data = json.loads(text)
    assert data["format"] == "mprof-chains"
    column = {"kept": "keptBytes", "peak": "peakBytes"}.get(metric, metric)
    column = 3 + data["numbers"].index(column)
    for sample in data["samples"]:
        chain, names = sample[0], []
        while chain >= 0:
            caller, frame = data["chains"][chain]
            assert caller < chain
            name = data["functions"][data["frames"][frame][0]]["name"]
            names.append(name.replace(";", ":"))
            chain = caller
        yield names[::-1], sample[column]


def listing(text, metric):
    """Chains to be read, innermost function first; their lines are known elsewhere."""
    names, number = [], 0
    for line in text.splitlines() + ["  0 bytes in 0 allocations"]:
        if line.startswith("    "):
            names.append(re.sub(r"  +[^ ].*:[0-9]+$", "", line[4:]).replace(";", ":"))
            continue
        if names:
            yield names[::-1], number
        found = re.fullmatch(r"  ([0-9,]+) bytes in ([0-9,]+) allocations?", line)
        number = int(found[1 if metric == "bytes" else 2].replace(",", ""))
        names = []


def of_sexp(text, metric):
    words = re.findall(r'[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+', text)
    stack = [[]]
    for word in words:
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    for bytes_, allocs, *frames in stack[0][0]:
        names = [re.sub(r"\\(.)", r"\1", frame[0][1:-1]) for frame in frames]
        yield (
            [name.replace(";", ":") for name in names[::-1]],
            int(bytes_ if metric == "bytes" else allocs),
        )


def speedscope(text, metric):
    data = json.loads(text)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    name = {"allocs": "allocations", "kept": "kept bytes", "peak": "bytes at the peak"}
    wanted = name.get(metric, metric)
    profile = next(p for p in data["profiles"] if p["name"] == wanted)
    names = [frame["name"] for frame in data["shared"]["frames"]]
    assert profile["type"] == "sampled" and profile["startValue"] == 0
    assert profile["unit"] == ("none" if metric == "allocs" else "bytes")
    assert profile["endValue"] == sum(profile["weights"])
    assert len(profile["samples"]) == len(profile["weights"])
    for frames, number in zip(profile["samples"], profile["weights"]):
        yield [names[i].replace(";", ":") for i in frames], number


def from_page(text, metric):
    """What it has by function, by its chains where no total is known."""
    found = {}
    for line in re.search(r">FUNCTIONS\n(.*?)\nEND", text, re.DOTALL)[1].split("\n"):
        which, name, own, both = html.unescape(line).split("\t")
        if which == metric:
            name = name.replace(";", ":")
            before = found.get(name, (0, 0))
            found[name] = (before[0] + int(own), before[1] + int(both))
    return found


def read(kind, text, metric):
    if kind == "top":
        return from_top(text)
    if kind == "page":
        return from_page(text, metric)
    if kind == "callgrind":
        return from_callgrind(text)
    chains = {
        "folded": lambda: folded(text),
        "real": lambda: without_inlined(folded(text)),
        "emacs": lambda: emacs(text),
        "dhat": lambda: dhat(text, metric),
        "json": lambda: of_json(text, metric),
        "speedscope": lambda: speedscope(text, metric),
        "text": lambda: listing(text, metric),
        "sexp": lambda: of_sexp(text, metric),
    }
    return of_chains(chains[kind]())


def main():
    wanted, heap, metric, kind, file = sys.argv[1:6]
    only_self = sys.argv[6:] == ["self"]
    with open(wanted) as stream:
        text = stream.read()
    if wanted.endswith(".folded"):
        chains = folded(text)
        known = of_chains(plain(chains) if kind in ("top", "json") else chains)
    else:
        known = expected(text, heap, metric)
    with open(file) as stream:
        found = read(kind, stream.read(), metric)
    for name in sorted(known.keys() | found.keys()):
        own, both = known.get(name, (0, 0))
        has = found.get(name, (0, 0))
        if name not in ("...", "<folded>") and (
            has[0] != own or (both is not None and not only_self and has[1] != both)
        ):
            sys.exit(f"{name}: {has} in the {kind}, {own} and {both} in {wanted}")
    print(sum(own != (0, 0) for own in found.values()), sum(own for own, _ in found.values()))


if __name__ == "__main__":
    main()
