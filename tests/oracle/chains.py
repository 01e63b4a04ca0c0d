"""chains.py memcheck LOG TABLE, chains.py dhat FILE TABLE - chain by chain, what memcheck
and mprof say was never freed, or what DHAT and mprof say was allocated.

LOG is of valgrind --leak-check=full --show-leak-kinds=all --show-below-main=yes, FILE of
DHAT, TABLE of mprof --by=site --table=leaks (memcheck) or paths (DHAT) with all frames and
rows.  A chain is one of call sites; it is known by its bytes, its blocks and its depth.
Prints how many there are, or what one of them has and the other has not; then the status
is 1.
"""
import collections
import json
import re
import sys


# What runs at exit is kept in tables of 32.  The monitor has an entry there, so that another
# call needs the next table.
GROWS = '__new_exitfn'

# What this calls next grows a string at one of two calls: which one, says the order of two
# blocks' addresses (libtcl 8.6, AppendUtfToUtfRep).  Valgrind has blocks at other addresses,
# so both calls are one row.
BY_ADDRESS = 'Tcl_AppendLimitedToObj'


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


def dhat(lines):
    """Yield (bytes, blocks, frames) of each program point, innermost frame first."""
    data = json.loads(''.join(lines))
    names = [re.match(r'(?:(0x[0-9A-F]+): )?(.*)', text).groups() for text in data['ftbl']]
    for point in data['pps']:
        yield point['tb'], point['tbk'], [names[i] for i in point['fs']]


def by_chain(records):
    """One row a chain: a block that is still reachable has another record."""
    chains = collections.defaultdict(lambda: [0, 0])
    for size, blocks, frames in records:
        while is_garbage(frames[-1][1]):
            frames.pop()
        # What has no caller and no name is where the loader begins.
        if re.match(r'\?\?\? \(in .*/ld-linux', frames[-1][1]):
            frames.pop()
        # Its own malloc() is the innermost one, and it has a setenv() of its own; its
        # operator new stands for the program's.
        if not frames[0][1].startswith('operator new'):
            del frames[0]
        frames = [f for f in frames if not f[1].startswith('setenv ')]
        if any(f[1].startswith(GROWS) for f in frames):
            continue
        frames = [inner if not outer[1].startswith(BY_ADDRESS) else BY_ADDRESS
                  for inner, outer in zip(frames, frames[1:])] + frames[-1:]
        chain = chains[tuple(frames)]
        chain[0] += size
        chain[1] += blocks
    return collections.Counter((*sums, len(chain)) for chain, sums in chains.items())


def mprof_rows(lines, pattern, numbers):
    """One row a chain: PATTERN finds its bytes, what NUMBERS makes its blocks of, and its
    names, outermost first."""
    chains = collections.defaultdict(lambda: [0, 0])
    for i, line in enumerate(lines):
        found = re.match(pattern, line)
        if not found or GROWS in found[3]:
            continue
        key = i
        if BY_ADDRESS in found[3]:
            key = re.sub(r'(?<=%s)([^ ]* > )[^ ]*' % BY_ADDRESS, r'\1', found[3])
        chain = chains[key, found[3].count(' > ') + 1]
        chain[0] += int(found[1])
        chain[1] += numbers(found[2])
    return collections.Counter((*sums, depth) for (_, depth), sums in chains.items()
                               if sums[1] > 0)


def unfreed(text):
    """Blocks never freed, of the fields that the table of leaks has behind the bytes"""
    fields = re.sub(r'\([^)]*\)', '', text).split()
    return int(fields[0]) - (int(fields[2]) if len(fields) == 4 else 0)


def leaks(lines):
    return mprof_rows(lines, r'\s*(\d+) +\([^)]*\)\s+(.*?)\s+\|\| > (.*)$', unfreed)


def paths(lines):
    return mprof_rows(lines, r'\s*(\d+) +\([^)]*\) +(\d+) +\(.*\|\| > (.*)$', int)


def without_empty(there, here):
    """DHAT's rows THERE, in which a block of no bytes has one: less of these, where HERE has
    a row with as many blocks, and a byte less for some of them."""
    rows, lacking = there & here, here - there
    for (size, blocks, depth), count in (there - here).items():
        for _ in range(count):
            like = [row for row in lacking if row[1:] == (blocks, depth) and
                    lacking[row] > 0 and size - blocks <= row[0] < size]
            row = like[0] if len(like) == 1 else (size, blocks, depth)
            lacking[row] -= 1
            rows[row] += 1
    return rows


def main(tool, file, report):
    read, table = {'memcheck': (memcheck, leaks), 'dhat': (dhat, paths)}[tool]
    there = by_chain(read(open(file, encoding='utf-8', errors='replace')))
    here = table(open(report, encoding='utf-8', errors='replace'))
    if tool == 'dhat':
        there = without_empty(there, here)
    for name, more in (tool, there - here), ('mprof', here - there):
        for row in sorted(more)[:5]:
            print('only %s: %d bytes in %d blocks, %d calls deep' % (name, *row))
    print(sum(here.values()))
    return there != here


sys.exit(main(*sys.argv[1:]))
