"""log.py LOG...: the load that a log tells, by its grammar in mprof.log(5).

Prints for each log, and for all of them together: duration, load_max,
load_current, load_total, load_avg, and how many of each event there are.  The
reader of mprof has no part in this.
"""
import sys

NAMES = ["free", "malloc", "calloc", "realloc", "tmstmp"]


def number(word, base=10):
    return int(word.split("=")[-1], base)


def entries(name):
    for line in open(name, "rb").read().split(b"\n")[:-1]:
        words = line.decode().split(" ")
        if words[0].startswith("secs="):
            time = number(words[0]) * 10**9 + number(words[1])
            words = words[2:]
        else:
            time = int(words[0])
            words = words[1:]
        kind = NAMES[int(words[1])] if words[1].isdigit() else words[1]
        yield time, number(words[0]), kind, words[2:]


class Heap:
    def __init__(self):
        self.sizes, self.live, self.most = {}, 0, 0
        self.load, self.recorded, self.running, self.time = 0, 0, None, None
        self.kinds = dict.fromkeys(NAMES, 0)
        self.threads = set()

    def step(self, time, thread, kind, words):
        if self.time is None:
            self.time = self.begin = time
            self.first = thread
        assert time >= self.time, "time goes back"
        if self.running:
            self.recorded += time - self.time
            self.load += self.live * (time - self.time)
        self.time = time
        self.kinds[kind] += 1
        self.threads.add(thread)
        if kind == "tmstmp":
            self.running = not self.running
            return
        addresses = [number(w, 16) for w in words[: 2 if kind == "realloc" else 1]]
        if kind in ("free", "realloc"):
            self.live -= self.sizes.pop(addresses[-1], 0)
        if kind != "free" and addresses[0]:
            size = number(words[-1]) * (number(words[-2]) if kind == "calloc" else 1)
            self.sizes[addresses[0]] = size
            self.live += size
        self.most = max(self.most, self.live)

    def tell(self):
        average = self.load // self.recorded if self.recorded else 0
        print(self.recorded, self.most, self.live, self.load, average)


heaps = [Heap() for _ in sys.argv[1:]]
events = []
for i, name in enumerate(sys.argv[1:]):
    for event in entries(name):
        heaps[i].step(*event)
        events.append((event[0], i, heaps[i].live))
    heaps[i].tell()
for i, heap in enumerate(heaps):
    # Another program in the same process ends it; who was killed has no end.
    ends = [h.begin for h in heaps if h.first == heap.first and h.begin > heap.begin]
    if not heap.running:
        events.append((heap.time, i, 0))
    elif ends:
        events.append((max(min(ends), heap.time), i, 0))
if len(heaps) > 1:
    # By time; of one process in the order of its log.
    now, most = [0] * len(heaps), 0
    for time, i, live in sorted(events, key=lambda e: e[0]):
        now[i] = live
        most = max(most, sum(now))
    duration = max(h.time for h in heaps) - min(h.begin for h in heaps)
    load = sum(h.load for h in heaps)
    print(duration, most, sum(h.live for h in heaps), load, load // duration)
kinds = {k: sum(h.kinds[k] for h in heaps) for k in NAMES}
print(*(f"{k}:{kinds[k]}" for k in NAMES), f"threads:{len(heaps[0].threads)}",
      file=sys.stderr)
