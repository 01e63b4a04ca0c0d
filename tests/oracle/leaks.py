"""leaks.py LOG TABLE - what memcheck and mprof say was never freed, chain by chain.

LOG is of valgrind --leak-check=full --show-leak-kinds=all --show-below-main=yes, TABLE of
mprof --by=site --table=leaks with all frames and rows.  A chain is one of call sites; it
is known by its bytes, its blocks and its depth.  Prints how many there are, or what one of
them has and the other has not; then the status is 1.
"""
import collections
import re
import sys


def number(text):
    return int(text.replace(',', ''))


def is_garbage(frame):
    """Behind the first frame memcheck goes on into what it finds on the stack."""
    return frame == '???'


def memcheck(lines):
    """Yield (bytes, blocks, frames) of each loss record, innermost frame first."""
    record = None
    for line in lines:
        line = re.sub(r'^==\d+== ?', '', line.rstrip('\n'))
        found = re.match(r'([\d,]+)(?: \(([\d,]+) direct, [\d,]+ indirect\))? bytes in '
                         r'([\d,]+) blocks are .* in loss record', line)
        if found:
            record = (number(found[2] or found[1]), number(found[3]), [])
            continue
        frame = re.match(r'\s+(?:at|by) (0x[0-9A-F]+): (.*)', line)
        if frame and record:
            record[2].append((frame[1], frame[2]))
        elif record:
            yield record
            record = None


def by_chain(records):
    """One row a chain: a block that is still reachable has another record."""
    chains = collections.defaultdict(lambda: [0, 0])
    for size, blocks, frames in records:
        while is_garbage(frames[-1][1]):
            frames.pop()
        # Its own malloc() is the innermost one, and it has a setenv() of its own; its
        # operator new stands for the program's.
        if not frames[0][1].startswith('operator new'):
            del frames[0]
        frames = [f for f in frames if not f[1].startswith('setenv ')]
        chain = chains[tuple(frames)]
        chain[0] += size
        chain[1] += blocks
    return collections.Counter((*sums, len(chain)) for chain, sums in chains.items())


def table(lines):
    rows = collections.Counter()
    for line in lines:
        found = re.match(r'\s*(\d+) +\([^)]*\)\s+(.*?)\s+\|\| > (.*)$', line)
        if found:
            fields = re.sub(r'\([^)]*\)', '', found[2]).split()
            frees = int(fields[2]) if len(fields) == 4 else 0
            blocks = int(fields[0]) - frees
            if blocks > 0:
                rows[(int(found[1]), blocks, found[3].count(' > ') + 1)] += 1
    return rows


def main(log, report):
    there = by_chain(memcheck(open(log, encoding='utf-8', errors='replace')))
    here = table(open(report, encoding='utf-8', errors='replace'))
    for name, more in ('memcheck', there - here), ('mprof', here - there):
        for row in sorted(more)[:5]:
            print('only %s: %d bytes in %d blocks, %d calls deep' % (name, *row))
    print(sum(here.values()))
    return there != here


sys.exit(main(*sys.argv[1:]))
