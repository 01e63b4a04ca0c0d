// diff.js - two recordings, OLD and NEW, which stand in place of threads: what grew
// and what shrank.

const OLD = 0, NEW = 1;
const change = sides => sides[NEW] - sides[OLD];
const signed = n => `${n > 0 ? "+" : n < 0 ? "\u2212" : ""}${grouped(Math.abs(n))}`;

// What `sides` grew by, in percent.
function growthOf(sides) {
  const by = change(sides);
  if (Math.abs(by) < 0.5)
    return "";
  if (sides[OLD] === 0 || sides[NEW] === 0)
    return sides[OLD] === 0 ? "new" : "gone";
  const p = 100 * by / sides[OLD];
  return Math.abs(p) < 0.1 ? "<0.1%" : `${p > 0 ? "+" : "\u2212"}${Math.abs(p).toFixed(1)}%`;
}

const inWords = (metric, sides) => Math.abs(change(sides)) < 0.5 ?
  `${amount(metric, sides[NEW])} as before` : `${amount(metric, sides[NEW])} after ` +
  `${grouped(sides[OLD])}: ${signed(change(sides))}, ${growthOf(sides)}`;

// As a heap it has at each node the larger one of both, which is how wide it is drawn.
class Difference extends Heap {
  constructor(data) {
    super(data);
    this.isDiff = true;
    for (const metric of data.factor === 1 ? [] : this.metrics)
      data.samples[metric] = data.samples[metric].map((n, i) =>
        this.threads[i] === OLD ? n * data.factor : n);
  }

  values(what) {
    if (what.thread >= 0)
      return super.values(what);
    return this.remember(`d ${what.metric} ${what.class}`, () => {
      const sides = [OLD, NEW].map(thread => super.values({...what, thread}));
      const self = sides[OLD].self.map((n, i) => Math.max(n, sides[NEW].self[i]));
      return {self, total: this.addUp(self), sides};
    });
  }

  isAll() {
    return false;
  }

  // By function, in one of both; exact even where chains are not known.
  totals(what) {
    if (what.thread < 0 || !super.isAll({...what, thread: -1}))
      return this.byFunction(what).total;
    return this.remember(`t ${what.metric} ${what.thread}`, () => {
      const totals = new Float64Array(this.names.length);
      for (const [f, ...numbers] of this.data.changes)
        totals[f] = numbers[(what.metric === "bytes" ? 0 : 2) + what.thread];
      return totals;
    });
  }

  // Of all, and by function, itself or in all.
  whole(what) {
    return [OLD, NEW].map(thread => super.values({...what, thread}).total[0]);
  }

  functions(what, inAll) {
    const [old, young] = [OLD, NEW].map(thread => inAll ?
      this.totals({...what, thread}) : this.byFunction({...what, thread}).self);
    return this.names.map((_, f) => [old[f], young[f]]);
  }

  mostChanged(what) {
    return largest(this.functions(what, false).map(sides => Math.abs(change(sides))));
  }

  // Of a branch of what is shown.
  sidesOf(branch) {
    const sum = [0, 0], {sides} = this.current;
    branch.ids.forEach((id, k) => [OLD, NEW].forEach(side => {
      sum[side] += branch.brought ? branch.broughtSides[k][side] : sides[side].total[id];
    }));
    return sum;
  }

  get missing() {
    const d = this.data;
    return Math.max(super.missing, d.oldFolded / (d.oldAllocs || 1));
  }
}

const makeHeap = data => data.oldFile === undefined ? new Heap(data) : new Difference(data);

// Red and blue, told apart by who sees no red, no green or no blue; the more of a
// branch is new or gone, the darker.  An arrow says the same.
function partChanged(sides) {
  const part = change(sides) / (Math.max(...sides) || 1);
  return Math.abs(part) < 0.001 ? 0 : part;
}

function changeColour(sides) {
  const part = partChanged(sides), step = Math.ceil(Math.abs(part) * 5);
  return part === 0 ? "hsl(0 0% 84%)" :
    `hsl(${part > 0 ? "14 92%" : "206 82%"} ${90 - 6 * step}%)`;
}

function changeMark(sides) {
  const part = partChanged(sides);
  return part > 0 ? "▲ " : part < 0 ? "▼ " : "";
}

const CHANGES = [["grew", [1, 9]], ["shrank", [9, 1]], ["as before", [1, 1]]];

// In words

function summarizeDifference(heap) {
  const d = heap.data, sides = heap.whole(everything("bytes"));
  const f = heap.mostChanged(everything("bytes"));
  const sentences = [
    [`${heap.isLisp ? "Lisp's" : "The C"} heap: ${inWords("bytes", sides)}.`],
    ...["allocs", "kept", "peak", "temporary"].filter(m => heap.metrics.includes(m)).map(m =>
      [`${METRICS[m][0][0].toUpperCase()}${METRICS[m][0].slice(1)}: ` +
        `${inWords(m, heap.whole(everything(m))).replace(/^(\S+) [a-z]+/, "$1")}.`]),
  ];
  sentences.splice(1, 0, f < 0 ? ["No function itself allocates more or less than before."] :
    ["What changed most is what ", f, " allocates itself: " +
      `${inWords("bytes", heap.functions(everything("bytes"), false)[f])}.`]);
  const way = f < 0 ? [] : changedWay(heap, f);
  if (way.length > 1)
    sentences.splice(2, 0, ["Most of that by way of ",
      ...way.flatMap((g, i) => i ? [" → ", g] : [g]), "."]);
  if (d.factor !== 1)
    sentences.push([`All numbers of the old recording are multiplied by ${d.factor.toPrecision(6)}.`]);
  if (heap.missing > 0)
    sentences.push(["The tree of chains was full: chains do not tell all; the bytes and " +
      "allocations of functions in all are exact."]);
  return sentences;
}

// The chain of function F that changed most, its innermost part, outermost first.
function changedWay(heap, f) {
  const {sides} = heap.values(everything("bytes"));
  let best = 0, most = 0;
  for (let i = 1; i < heap.count; i++) {
    const by = Math.abs(sides[NEW].self[i] - sides[OLD].self[i]);
    if (heap.fn[i] === f && by > most)
      [best, most] = [i, by];
  }
  return best ? heap.chain(best).slice(0, 6).reverse() : [];
}

// Tables

const changeColumns = (of, what) => [
  number(`${what}, old`, r => of(r)[OLD]), number(`${what}, new`, r => of(r)[NEW]),
  {title: `${what}, change`, of: r => Math.abs(change(of(r))), cell: r => signed(change(of(r)))},
  {title: "%", of: r => change(of(r)) / (of(r)[OLD] || 1e-9), cell: r => growthOf(of(r))},
];

const DIFF_TABLES = {
  functions: {title: "Functions", make(heap, what) {
    const self = heap.functions(what, false), total = heap.functions(what, true);
    const unit = METRICS[what.metric][0], rows = [];
    total.forEach((sides, f) => {
      if (change(sides) !== 0 || change(self[f]) !== 0)
        rows.push({functions: [f]});
    });
    return {rows, sort: 3, next: 7, columns: [
      {title: "function", functions: r => r.functions},
      ...changeColumns(r => total[r.functions[0]], `${unit} in all`),
      ...changeColumns(r => self[r.functions[0]], `${unit} itself`),
    ]};
  }},
  chains: {title: "Chains", make(heap, what) {
    const {sides} = heap.values(what), rows = [];
    const of = r => [sides[OLD].self[r.node], sides[NEW].self[r.node]];
    for (let i = 1; i < heap.count; i++)
      if (sides[OLD].self[i] !== sides[NEW].self[i])
        rows.push({node: i, get functions() { return heap.chain(i); }});
    return {rows, sort: 2, columns: [...changeColumns(of, METRICS[what.metric][0]),
      {title: "chain, from the allocator out", functions: r => r.functions, node: r => r.node}]};
  }},
  types: {title: "Types and sizes", make: heap => ({
    rows: heap.data.typeChanges.map(row => ({text: row[0], row})), sort: 3,
    note: "Of all classes.",
    columns: [{title: "type", text: r => r.text},
      ...changeColumns(r => r.row.slice(1, 3), "bytes"),
      ...changeColumns(r => r.row.slice(3, 5), "allocations")],
  })},
};

const tablesFor = h => h.isDiff ? DIFF_TABLES : TABLES;
