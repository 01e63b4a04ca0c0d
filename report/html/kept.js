// kept.js - what keeps live objects: as boxes, in words, and as a table.

const hasKept = ({data}) => data.keptBy?.length > 0;

// A step of the table of what keeps live objects, with the steps within it.
class Step {
  constructor(parent, key, [, label, value, objects, fn]) {
    Object.assign(this, {parent, key, label, value, objects, fn, steps: []});
  }

  kids() {
    return this.steps;
  }
}

function keptView(heap) {
  const path = [], root = new Step(null, -1, [0, undefined, 0, 0, -1]);
  heap.data.keptBy.forEach((row, i) => {
    path.length = row[0];
    const parent = path[path.length - 1] ?? root, step = new Step(parent, i, row);
    parent.steps.push(step);
    path.push(step);
  });
  for (const step of root.steps) {
    root.value += step.value;
    root.objects += step.objects;
  }
  return root;
}

// What STEP keeps, and who allocated most of that.
function tellStep(area, step, all) {
  const path = [];
  for (let s = step; s.label !== undefined; s = s.parent)
    path.unshift(s.label);
  area.replaceChildren(
    `${path.join(" > ")} ${path.length > 1 ? "keep" : "keeps"} ${amount("bytes", step.value)}, ` +
    `${percent(step.value, all)}, in ${amount("aliveAllocs", step.objects)}`,
    ...(step.fn >= 0 ? ["; largest part allocated by ", link(step.fn)] : []));
}

// What keeps live objects: each step below the one that it is within.
function keptTable(heap) {
  const path = [];
  const rows = heap.data.keptBy.map(([level, name, bytes, objects], order) => {
    path.length = level;
    path.push(name);
    return {order, name: "\u00a0".repeat(4 * level) + name, text: path.join(" > "), bytes, objects};
  });
  const roots = sum(heap.data.keptBy.filter(k => k[0] === 0).map(k => k[2]));
  const most = Math.max(...rows.map(r => r.bytes));
  return {rows, sort: 5, note: "Of all threads and classes.  Each number is what would be free " +
    "without this step; steps below half a percent are left out.", columns: [
    {title: "kept by", text: r => r.name}, number("bytes", r => r.bytes), share(r => r.bytes, roots),
    bar(r => r.bytes, most), number("objects", r => r.objects),
    {title: "order", of: r => -r.order, cell: r => String(r.order + 1)},
  ]};
}
