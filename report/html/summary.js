// summary.js - what matters, in sentences.

const grouped = n => Math.round(n).toLocaleString("en-US");

function seconds(ns) {
  return ns < 1e7 ? `${(ns / 1e6).toFixed(3)} ms` : ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` :
    `${(ns / 1e9).toFixed(3)} s`;
}

function percent(part, whole) {
  const p = 100 * part / (whole || 1);
  return p > 0 && p < 0.1 ? "less than 0.1%" : `${p.toFixed(1)}%`;
}

function amount(metric, n) {
  const unit = METRICS[metric][1];
  return `${grouped(n)} ${n === 1 ? unit.slice(0, -1) : unit}`;
}

function largest(numbers, allowed = () => true) {
  let best = -1;
  numbers.forEach((n, i) => {
    if (n > 0 && allowed(i) && (best < 0 || n > numbers[best]))
      best = i;
  });
  return best;
}

const everything = metric => ({metric, class: -1, thread: -1});

// What stands for the code that runs while a file is loaded.
const isLoading = (heap, f) => heap.isLisp && /^<load (of|by) /.test(heap.names[f]);

// A program's own function: neither the runtime's nor a name for what is none; of
// Lisp no other C.
const isOwn = (heap, f) => heap.kinds[f] < (heap.isLisp ? 2 : 3) || isLoading(heap, f);

// By function of the program: what it has with the functions of the runtime that
// it called, by metric, and at which node the most of it.
function ownSums(heap, metric) {
  const {self} = heap.values(everything(metric));
  const own = new Int32Array(heap.count), sums = new Float64Array(heap.names.length);
  const by = new Map();
  for (let i = 1; i < heap.count; i++) {
    own[i] = isOwn(heap, heap.fn[i]) ? i : own[heap.parent[i]];
    if (self[i] > 0 && own[i] > 0) {
      sums[heap.fn[own[i]]] += self[i];
      by.set(own[i], (by.get(own[i]) || 0) + self[i]);
    }
  }
  return {sums, by, own};
}

// From function FN out to its callers, the program's alone, always to the one that
// has most of it, as long as that is a third of what FN has: outermost first, each
// of those that call each other once.
function wayTo(heap, fn, by, own) {
  const way = [fn];
  let nodes = new Map([...by].filter(([i]) => heap.fn[i] === fn)), share = 0, whole = 0;
  for (const n of nodes.values())
    whole += n;
  while (way.length < 9) {
    const callers = new Map();
    for (const [i, n] of nodes) {
      let caller = own[heap.parent[i]];
      while (caller > 0 && way.includes(heap.fn[caller]))
        caller = own[heap.parent[caller]];
      const f = caller > 0 ? heap.fn[caller] : -1;
      if (!callers.has(f))
        callers.set(f, {sum: 0, nodes: new Map()});
      const group = callers.get(f);
      group.sum += n;
      group.nodes.set(caller, (group.nodes.get(caller) || 0) + n);
    }
    const [[f, most]] = [...callers].sort((a, b) => b[1].sum - a[1].sum);
    if (f < 0 || most.sum < whole / 3)
      break;
    way.unshift(f);
    nodes = most.nodes;
    share = most.sum;
  }
  return {way, share};
}

// The class, or of Lisp the type, of which FN causes most.
function sortOf(heap, fn, metric, own) {
  const typed = heap.types.length > 0 && heap.types.every(t => t > 0);
  const first = typed ? heap.data.classes.length - 1 : 0;
  const sums = heap.sorts.map(() => 0);
  const numbers = heap.data.samples[metric];
  numbers.forEach((n, k) => {
    const node = own[heap.nodes[k]];
    if (node > 0 && heap.fn[node] === fn)
      sums[first + (typed ? heap.types : heap.classes)[k]] += n;
  });
  const c = largest(sums);
  return c < 0 ? null : {name: (typed ? "type " : "class ") + heap.sorts[c], part: sums[c]};
}

// A sentence is a list of texts and of functions, by number.
function summarize(heap) {
  return [whole, estimated, branches, causer, loading, groups, allocator, biggestType, peak,
    growth, temporary, leaks, living, missing]
    .map(sentence => sentence(heap)).filter(s => s);
}

function whole(heap) {
  const d = heap.data;
  return [`${grouped(d.allocs)} allocations of ${grouped(d.bytes)} bytes in ` +
    `${seconds(d.duration)}, in the ${heap.isLisp ? "Lisp" : "C"} heap` +
    `${d.processes ? ` of ${grouped(d.processes)} processes` : ""}.`];
}

// By node, numbers of the nodes below that have at least LEAST.
function partsBelow(heap, total, least) {
  const parts = new Map();
  for (let i = 1; i < heap.count; i++)
    if (total[i] >= least) {
      if (!parts.has(heap.parent[i]))
        parts.set(heap.parent[i], []);
      parts.get(heap.parent[i]).push(i);
    }
  return parts;
}

// Where the chains divide: each function stands for a way that has at least a tenth
// of all bytes and comes apart into small ones further in.
function branches(heap) {
  const {total} = heap.values(everything("bytes")), most = 4;
  const parts = partsBelow(heap, total, total[0] / 10 || 1);
  const ways = [{node: 0, name: -1, ended: false}];
  for (;;) {
    const way = ways.filter(w => !w.ended).sort((a, b) => total[b.node] - total[a.node])[0];
    if (!way)
      break;
    const below = parts.get(way.node) || [];
    const sum = below.reduce((n, i) => n + total[i], 0);
    if (sum < 0.8 * total[way.node] || ways.length - 1 + below.length > most) {
      way.ended = true;
      continue;
    }
    // A way keeps the name with which it left the others.
    const named = below.length === 1 && way.name >= 0 ? way.name : -1;
    ways.splice(ways.indexOf(way), 1, ...below.map(node => ({node, ended: false,
      name: named >= 0 ? named : isOwn(heap, heap.fn[node]) ? heap.fn[node] : -1,
      bytes: named >= 0 ? way.bytes : total[node]})));
  }
  const found = ways.filter(w => w.name >= 0).sort((a, b) => b.bytes - a.bytes);
  if (found.length < 2)
    return null;
  const sentence = ["With all that they call: "];
  found.forEach((w, i) => sentence.push(...(i ? [i + 1 === found.length ? " and " : ", "] : []),
    w.name, `${i ? "" : " has"} ${percent(w.bytes, heap.data.bytes)}${i ? "" : " of the bytes"}`));
  return [...sentence, "."];
}

// What running a program's files takes before it runs.
function loading(heap) {
  const sums = ownSums(heap, "bytes").sums.map((n, f) => isLoading(heap, f) ? n : 0);
  const f = largest(sums), all = sums.reduce((a, b) => a + b, 0);
  return f < 0 ? null : [`Loading files takes ${percent(all, heap.data.bytes)} of the bytes, ` +
    "without the functions that are called meanwhile; most of it is ", f,
    `, ${percent(sums[f], heap.data.bytes)}.`];
}

function causer(heap) {
  const {sums: every, by, own} = ownSums(heap, "bytes");
  const sums = every.map((n, f) => isLoading(heap, f) ? 0 : n), f = largest(sums);
  if (f < 0)
    return null;
  const all = heap.data.bytes, c = sortOf(heap, f, "bytes", own);
  const {way, share} = wayTo(heap, f, by, own);
  const sentence = ["Of the program's own functions, ", f, " causes most, counted with what " +
    `the runtime allocates for it: ${percent(sums[f], all)} of the bytes` +
    (c ? `; ${percent(c.part, sums[f])} of that is of the ${c.name}` : "") + "."];
  if (way.length > 1) {
    sentence.push(` ${percent(share, sums[f])} of it goes by way of `);
    way.forEach((step, i) => sentence.push(...(i ? [" → ", step] : [step])));
    sentence.push(".");
  }
  const next = ranking(sums).slice(1, 4);
  next.forEach((g, i) => sentence.push(i === 0 ? " Next come " :
    i + 1 === next.length ? " and " : ", ", g, ` with ${percent(sums[g], all)}`));
  return next.length ? [...sentence, "."] : sentence;
}

const ranking = numbers => Array.from(numbers.keys()).filter(i => numbers[i] > 0)
  .sort((a, b) => numbers[b] - numbers[a] || a - b);

// The same by package or file, when there are several.
function groups(heap) {
  const sums = ownSums(heap, "bytes").sums.map((n, f) => isLoading(heap, f) ? 0 : n);
  const byGroup = new Float64Array(heap.data.groups.length + 1);
  sums.forEach((n, f) => { byGroup[heap.groups[f]] += n; });
  byGroup[0] = 0;
  const names = ranking(byGroup).slice(0, 4).map(g =>
    `${heap.data.groups[g - 1]} ${percent(byGroup[g], heap.data.bytes)}`);
  return names.length < 2 ? null :
    [`So counted, ${heap.isLisp ? "packages" : "files"} cause: ${names.join(", ")}.`];
}

function allocator(heap) {
  const {self} = heap.byFunction(everything("bytes")), f = largest(self);
  const n = f < 0 ? 0 : heap.byFunction(everything("allocs")).self[f];
  return f < 0 ? null : ["Most is allocated by ", f, ` itself: ` +
    `${percent(self[f], heap.data.bytes)} of the bytes, in ${grouped(n)} allocations.`];
}

function biggestType(heap) {
  const d = heap.data, rows = heap.isLisp ? d.types : d.sizes;
  const column = heap.isLisp ? 4 : 2, i = largest(rows.map(r => r[column]));
  if (i < 0)
    return null;
  const row = rows[i], share = `${percent(row[column], d.bytes)} of the bytes`;
  if (heap.isLisp)
    return [`The biggest type is ${row[1] || row[0]}: ${share}, ${grouped(row[3])} objects.`];
  const size = row[0] > d.largestBin ? `more than ${grouped(d.largestBin)}` : grouped(row[0]);
  return [`The size that takes most is ${size} bytes` +
    (row[5].length ? ` (such as ${row[5][0]})` : "") +
    `: ${share}, ${grouped(row[1])} allocations.`];
}

function peak(heap) {
  const [time, bytes, objects] = heap.data.peak;
  if (heap.isLisp || !bytes)
    return null;
  const {self} = heap.byFunction(everything("peak")), f = largest(self);
  const start = (heap.data.processes ? "The peaks of the processes, added up, are " :
    `The heap was highest after ${seconds(time)}: `) +
    `${grouped(bytes)} bytes in ${grouped(objects)} objects`;
  return f < 0 ? [start + "."] :
    [start + ", most of them, ", `${percent(self[f], bytes)}, of `, f, "."];
}

// The tenth of the time in which the heap grew most.
function growth(heap) {
  const {curve, duration} = heap.data, at = time => {
    let bytes = 0;
    for (const [t, b] of curve) {
      if (t > time)
        break;
      bytes = b;
    }
    return bytes;
  };
  const rises = Array.from({length: 10}, (_, i) =>
    at(duration * (i + 1) / 10) - at(duration * i / 10));
  const i = largest(rises);
  return i < 0 || curve.length < 4 ? null : ["It grew most between " +
    `${seconds(duration * i / 10)} and ${seconds(duration * (i + 1) / 10)}, by ` +
    `${grouped(rises[i])} bytes.`];
}

function temporary(heap) {
  if (!heap.metrics.includes("temporary"))
    return null;
  const {self} = heap.byFunction(everything("temporary")), f = largest(self);
  const sum = self.reduce((a, b) => a + b, 0);
  return f < 0 ? null : [`${percent(sum, heap.data.allocs)} of the allocations are temporary, ` +
    "freed before anything else happens in the heap; most of them, " +
    `${percent(self[f], sum)}, are made by `, f, "."];
}

function leaks(heap) {
  if (!heap.metrics.includes("kept"))
    return null;
  const {self} = heap.byFunction(everything("kept")), f = largest(self);
  const sum = self.reduce((a, b) => a + b, 0);
  return f < 0 ? ["Everything was freed."] : [`${grouped(sum)} bytes were never freed, ` +
    `${percent(sum, heap.data.bytes)} of all; most of them, ${percent(self[f], sum)}, of `, f, "."];
}

function estimated(heap) {
  const n = heap.data.sampling;
  return n > 0 ? [`All numbers are estimated, from one byte in ${grouped(n)}: the standard ` +
    `error of b bytes is at most the square root of ${grouped(n)} b.`] : null;
}

function living(heap) {
  if (!heap.metrics.includes("alive"))
    return null;
  const sum = heap.values(everything("alive")).total[0];
  if (sum === 0)
    return ["Nothing is alive of what was allocated."];
  const {sums, by, own} = ownSums(heap, "alive"), f = largest(sums);
  const sentence = [`${grouped(sum)} bytes are alive, ${percent(sum, heap.data.bytes)} of all ` +
    "that was allocated"];
  if (f < 0)
    return [...sentence, "."];
  const {way} = wayTo(heap, f, by, own);
  sentence.push(`; the most, ${percent(sums[f], sum)}, for `);
  way.forEach((step, i) => sentence.push(...(i ? [" → ", step] : [step])));
  return [...sentence, "."];
}

function missing(heap) {
  const d = heap.data, sentence = [];
  if (heap.missing > 0)
    sentence.push(`Of ${percent(d.folded, d.allocs)} of the allocations not the whole chain is ` +
      "known, as there was no room for more: their functions stand below <folded> or are cut; " +
      "record with a larger limit. ");
  if (d.leftOut > 0)
    sentence.push(`${grouped(d.leftOut)} contexts with ${grouped(d.leftOutBytes)} bytes in all ` +
      "are too small to be here one by one: they stand as <smaller> (--nodes has more of them). ");
  if (sentence.length > 0 && !heap.data.sampling)
    sentence.push("The numbers of functions and calls, for bytes and allocations, are exact all " +
      "the same.");
  return sentence.length ? sentence : null;
}
