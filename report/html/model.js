"use strict";
// model.js - the heaps as arrays, and what can be asked of them.

const KINDS = ["Lisp", "interpreted Lisp", "C", "runtime", "other"];
const METRICS = {
  bytes: ["bytes", "bytes"],
  allocs: ["allocations", "allocations"],
  kept: ["bytes never freed", "bytes"],
  keptAllocs: ["objects never freed", "objects"],
  peak: ["bytes at the peak", "bytes"],
  peakAllocs: ["objects at the peak", "objects"],
  temporary: ["temporary allocations", "allocations"],
  alive: ["bytes alive", "bytes"],
  aliveAllocs: ["blocks alive", "blocks"],
};
// The numbers of a line, in their order.
const LINE_NUMBERS = ["allocs", "bytes", "keptAllocs", "kept", "peakAllocs", "peak", "temporary"];
// How many there are of what a metric counts in bytes.
const OBJECTS = {bytes: "allocs", kept: "keptAllocs", peak: "peakAllocs", alive: "aliveAllocs"};

// One heap.  Nodes are numbered in preorder: what is below node i are the nodes
// from i + 1 to end[i] - 1.  Node 0 is where the outermost functions are called.
class Heap {
  constructor(data) {
    // A difference has none of these.
    data = {curve: [], marks: [], peak: [0, 0, 0], types: [], sizes: [], totals: [], arcs: [], ...data};
    this.data = data;
    this.names = data.functions.map(f => f[0]);
    this.kinds = data.functions.map(f => f[1]);
    this.groups = data.functions.map(f => f[2]);
    this.isLisp = data.heap === "lisp";
    this.metrics = Object.keys(METRICS).filter(m => data.samples[m]);
    // What can be chosen by number: classes, then the types of Lisp.
    this.sorts = [...data.classes, ...(data.types ?? []).map(t => t[1] || t[0])];
    this.kept = new Map();
    this.makeLines(data);
    this.makeTree(data.tree);
    this.makeSamples(data.samples);
    this.hide(new Set());
  }

  makeTree(tree) {
    const count = tree.up.length + 1, path = [0];
    this.count = count;
    this.parent = new Int32Array(count);
    this.fn = new Int32Array(count);
    this.end = new Int32Array(count);
    this.parent[0] = this.fn[0] = -1;
    for (let i = 1; i < count; i++) {
      for (let up = tree.up[i - 1]; up > 0; up--)
        this.end[path.pop()] = i;
      this.parent[i] = path[path.length - 1];
      this.fn[i] = tree.function[i - 1];
      path.push(i);
    }
    while (path.length)
      this.end[path.pop()] = count;
  }

  makeSamples(samples) {
    let node = 0;
    this.nodes = Int32Array.from(samples.node, step => node += step);
    this.classes = Uint8Array.from(samples.class);
    this.threads = Int32Array.from(samples.thread);
    this.types = Int32Array.from(samples.type ?? []);
  }

  // Lines of the source that functions call at, of all classes and threads; and
  // the text of some.
  makeLines({files = [], lines = [], source = []}) {
    const short = files.map(file => file.replace(/^.*\//, ""));
    this.lines = lines.map(([fn, file, line, ...numbers]) =>
      ({fn, file, line, numbers, place: `${short[file]}:${line}`}));
    this.lineIndex = Object.keys(METRICS).reduce((index, m) =>
      ({...index, [m]: LINE_NUMBERS.indexOf(m.replace("alive", "kept"))}), {});
    this.source = new Map(source.map(([file, line, text]) => [`${file}:${line}`, text]));
  }

  // The function with most of WHAT, of those whose source is the program's own: what
  // libraries allocate for it is its.  Below 0: no lines are known.
  ownFunction(what) {
    return this.remember(`o ${what.metric} ${what.class} ${what.thread}`, () => {
      const own = new Set(this.lines.filter(l => !/^(\/usr\/|\.\.?\/)/.test(this.data.files[l.file]))
        .map(l => l.fn));
      const {self} = this.values(what), sums = new Float64Array(this.names.length);
      for (let i = 1; i < this.count && own.size > 0; i++) {
        const f = self[i] > 0 ? this.chain(i).find(g => own.has(g)) : undefined;
        if (f !== undefined)
          sums[f] += self[i];
      }
      return largest(sums);
    });
  }

  // Those of function F that have some of METRIC, the first one most.
  linesOf(f, metric) {
    this.linesByFunction ??= Map.groupBy ? Map.groupBy(this.lines, l => l.fn) :
      this.lines.reduce((m, l) => m.set(l.fn, [...m.get(l.fn) ?? [], l]), new Map());
    const index = this.lineIndex[metric];
    return (this.linesByFunction.get(f) ?? []).filter(l => l.numbers[index] > 0)
      .sort((a, b) => b.numbers[index] - a.numbers[index] || a.line - b.line);
  }

  // Whether there is anything of a type; of a class always.
  hasSort(sort) {
    const classes = this.data.classes.length;
    return sort < classes || this.data.types[sort - classes][3] > 0;
  }

  // Whether sample I is of a class, a type, or -1 for all.
  isOf(i, sort) {
    const classes = this.data.classes.length;
    return sort < 0 || (sort < classes ? this.classes[i] === sort
      : this.types[i] === sort - classes + 1);
  }

  // What `make` returns, once for each key; few are kept.
  remember(key, make) {
    if (!this.kept.has(key)) {
      if (this.kept.size > 40)
        this.kept.clear();
      this.kept.set(key, make());
    }
    return this.kept.get(key);
  }

  // Functions whose group is in the set `groups` are taken out of all chains.
  hide(groups) {
    this.hidden = Uint8Array.from(this.groups, g => groups.has(g) ? 1 : 0);
    this.anyHidden = groups.size > 0;
    this.shown = new Int32Array(this.count);
    for (let i = 1; i < this.count; i++)
      this.shown[i] = this.hidden[this.fn[i]] ? this.shown[this.parent[i]] : i;
    this.kept.clear();
  }

  // By node: what it has itself, hidden ones within their callers, and in all.
  values(what) {
    return this.remember(`${what.metric} ${what.class} ${what.thread}`, () => {
      const numbers = this.data.samples[what.metric];
      const self = new Float64Array(this.count);
      for (let i = 0; i < numbers.length; i++)
        if (this.isOf(i, what.class) &&
            (what.thread < 0 || this.threads[i] === what.thread))
          self[this.shown[this.nodes[i]]] += numbers[i];
      return {self, total: this.addUp(self)};
    });
  }

  // By node, with what is below it.
  addUp(self) {
    const total = self.slice();
    for (let i = this.count - 1; i > 0; i--) {
      const parent = this.shown[this.parent[i]];
      if (this.shown[i] === i)
        total[parent] += total[i];
    }
    return total;
  }

  // Call enter(i) and leave(i) for all shown nodes, as one goes through the tree.
  walk(enter, leave) {
    const path = [];
    for (let i = 1; i < this.count; i++) {
      while (path.length && this.end[path[path.length - 1]] <= i)
        leave(path.pop());
      if (this.hidden[this.fn[i]])
        continue;
      enter(i);
      path.push(i);
    }
    while (path.length)
      leave(path.pop());
  }

  // By function: what it has itself, and in all, each allocation counted once.
  byFunction(what) {
    return this.remember(`f ${what.metric} ${what.class} ${what.thread}`, () => {
      const {self, total} = this.values(what), count = this.names.length;
      const sums = {self: new Float64Array(count), total: new Float64Array(count)};
      const active = new Int32Array(count);
      this.walk(i => {
        const f = this.fn[i];
        sums.self[f] += self[i];
        if (active[f]++ === 0)
          sums.total[f] += total[i];
      }, i => { active[this.fn[i]]--; });
      return sums;
    });
  }

  // All pairs of a caller and what it calls, each allocation counted once:
  // [caller, callee, number], by the key "caller callee".
  byArc(what) {
    return this.remember(`a ${what.metric} ${what.class} ${what.thread}`, () => {
      const {total} = this.values(what), arcs = new Map(), width = this.names.length;
      const key = i => {
        const parent = this.shown[this.parent[i]];
        return parent === 0 ? -1 : this.fn[parent] * width + this.fn[i];
      };
      this.walk(i => {
        const k = key(i);
        if (k < 0)
          return;
        let arc = arcs.get(k);
        if (!arc)
          arcs.set(k, arc = [Math.floor(k / width), k % width, 0, 0]);
        if (arc[3]++ === 0)
          arc[2] += total[i];
      }, i => {
        const k = key(i);
        if (k >= 0)
          arcs.get(k)[3]--;
      });
      return arcs;
    });
  }

  // Whether all of the recording is asked for, so that the exact totals serve.
  isAll(what) {
    return what.class < 0 && what.thread < 0 && !this.anyHidden &&
      (what.metric === "bytes" || what.metric === "allocs");
  }

  // By function, the total: exact even where chains are not known.
  totals(what) {
    if (!this.isAll(what))
      return this.byFunction(what).total;
    return this.remember(`t ${what.metric}`, () => {
      // What is no function, such as <folded>, is not among them.
      const {self, total} = this.byFunction(what);
      const totals = total.map((n, f) => self[f] > 0 ? n : 0);
      for (const [f, allocs, bytes] of this.data.totals)
        totals[f] = what.metric === "bytes" ? bytes : allocs;
      return totals;
    });
  }

  // The same of arcs, as [caller, callee, number].
  arcs(what) {
    if (!this.isAll(what))
      return [...this.byArc(what).values()];
    return this.data.arcs.map(([caller, callee, allocs, bytes]) =>
      [caller, callee, what.metric === "bytes" ? bytes : allocs]);
  }

  // Whether a chain has function F.
  usedFunction(f) {
    this.used ??= new Set(this.fn);
    return this.used.has(f);
  }

  // Chains are not whole: of which share of allocations, or 0.
  get missing() {
    return this.data.folded / (this.data.allocs || 1);
  }

  // Functions from node i outwards.
  chain(i) {
    const functions = [];
    for (i = this.shown[i]; i > 0; i = this.shown[this.parent[i]])
      functions.push(this.fn[i]);
    return functions;
  }
}

// A branch of a view: nodes that are shown as one, of one function.  Its kids are
// made when they are asked for: downwards they are what these nodes call, with all
// of it; upwards their callers, with the numbers that the nodes brought along.
class Branch {
  constructor(heap, fn, parent) {
    this.heap = heap;
    this.fn = fn;
    this.parent = parent;
    this.value = 0;
    this.ids = [];
    this.brought = null;
    this.broughtSides = null; // of two recordings
    this.made = null;
  }

  // What it has among the kids of its parent, and no other has.
  get key() {
    return this.fn;
  }

  // Of two recordings: what it has in each.
  get sides() {
    return this.madeSides ??= this.heap.sidesOf(this);
  }

  kids(total) {
    return this.made ??= this.brought ? this.callers() : this.callees(total);
  }

  group(groups, fn) {
    let kid = groups.get(fn);
    if (!kid)
      groups.set(fn, kid = new Branch(this.heap, fn, this));
    return kid;
  }

  callees(total) {
    const {heap} = this, groups = new Map();
    for (const id of this.ids)
      for (let i = id + 1; i < heap.end[id];) {
        if (heap.hidden[heap.fn[i]]) {
          i++;
          continue;
        }
        if (total[i] > 0) {
          const kid = this.group(groups, heap.fn[i]);
          kid.ids.push(i);
          kid.value += total[i];
        }
        i = heap.end[i];
      }
    return sorted(groups);
  }

  callers() {
    const {heap} = this, groups = new Map();
    this.ids.forEach((id, k) => {
      const caller = heap.shown[heap.parent[id]];
      if (caller > 0)
        addBrought(this.group(groups, heap.fn[caller]), caller, this.brought[k],
          this.broughtSides && this.broughtSides[k]);
    });
    return sorted(groups);
  }
}

function addBrought(branch, id, number, sides) {
  branch.brought ??= [];
  branch.broughtSides ??= sides ? [] : null;
  branch.index ??= new Map();
  let k = branch.index.get(id);
  if (k === undefined) {
    branch.index.set(id, k = branch.ids.length);
    branch.ids.push(id);
    branch.brought.push(0);
    if (sides)
      branch.broughtSides.push([0, 0]);
  }
  if (sides)
    sides.forEach((n, side) => { branch.broughtSides[k][side] += n; });
  branch.brought[k] += number;
  branch.value += number;
}

function sorted(groups) {
  for (const kid of groups.values())
    kid.index = null;
  return [...groups.values()].filter(kid => kid.value > 0)
    .sort((a, b) => b.value - a.value || a.fn - b.fn);
}

// The views: everything from the outermost functions down; from what allocates
// up to its callers; and of one function what it calls, or its callers.
function topView(heap, values) {
  const root = new Branch(heap, -1, null);
  root.ids.push(0);
  root.value = values.total[0];
  return root;
}

function invertedView(heap, values) {
  const root = new Branch(heap, -1, null), groups = new Map();
  for (let i = 1; i < heap.count; i++)
    if (values.self[i] > 0)
      addBrought(root.group(groups, heap.fn[i]), i, values.self[i],
        values.sides && values.sides.map(side => side.self[i]));
  root.made = sorted(groups);
  root.value = values.total[0];
  if (values.sides)
    root.madeSides = values.sides.map(side => side.total[0]);
  return root;
}

function functionView(heap, values, fn, upwards) {
  const root = new Branch(heap, fn, null);
  let active = 0;
  heap.walk(i => {
    if (heap.fn[i] !== fn || active++ > 0 || !(values.total[i] > 0))
      return;
    if (upwards)
      addBrought(root, i, values.total[i],
        values.sides && values.sides.map(side => side.total[i]));
    else {
      root.ids.push(i);
      root.value += values.total[i];
    }
  }, i => { active -= heap.fn[i] === fn; });
  if (upwards && !root.brought)
    root.brought = [];
  root.index = null;
  return root;
}
