// tables.js - the same as rows, sorted by any column.

const SOME_ROWS = 100, MORE_ROWS = 1000;

// A table's columns: what stands above, and of a row its number or text, from
// which cells are made and rows are sorted.  `functions` of a row are searched.
const number = (title, of) => ({title, of, cell: r => grouped(of(r))});
const brief = (part, whole) =>
  part > 0 ? percent(part, whole).replace("less than ", "<").replace("%", "") : "";
const share = (of, whole) => ({title: "%", of, cell: r => brief(of(r), whole)});
const bar = (of, most) => ({title: "", of, isBar: true, cell: r => of(r) / (most || 1)});

const TABLES = {
  functions: {title: "Functions", make: functionTable},
  calls: {title: "Calls", make: callTable},
  lines: {title: "Lines", make: lineTable},
  chains: {title: "Chains", make: (heap, what) =>
    chainTable(heap, what, TABLES[what.metric]?.metric ?? "bytes")},
  kept: {title: "Never freed", metric: "kept", make: (heap, what) => chainTable(heap, what, "kept")},
  peak: {title: "At the peak", metric: "peak", make: (heap, what) => chainTable(heap, what, "peak")},
  temporary: {title: "Temporary", metric: "temporary",
    make: (heap, what) => chainTable(heap, what, "temporary")},
  alive: {title: "Alive", metric: "alive", make: (heap, what) => chainTable(heap, what, "alive")},
  keptBy: {title: "Kept by", make: keptTable},
  types: {title: "Types", isLisp: true, make: typeTable},
  sizes: {title: "Sizes", isLisp: false, make: sizeTable},
  threads: {title: "Threads", make: threadTable},
};

function tablesOf(heap) {
  if (heap.isDiff)
    return Object.keys(DIFF_TABLES).filter(name => name !== "types" || heap.data.typeChanges);
  return Object.keys(TABLES).filter(name => {
    const {metric, isLisp} = TABLES[name];
    return (!metric || heap.metrics.includes(metric)) && (name !== "lines" || heap.lines.length > 0) &&
      (name !== "keptBy" || hasKept(heap)) &&
      (isLisp === undefined || isLisp === heap.isLisp);
  });
}

const sum = numbers => numbers.reduce((a, b) => a + b, 0);

function functionTable(heap, what) {
  const of = metric => ({...what, metric});
  const self = {}, metrics = heap.metrics;
  for (const m of metrics)
    self[m] = heap.byFunction(of(m)).self;
  const bytes = heap.totals(of("bytes")), allocs = heap.totals(of("allocs"));
  const whole = heap.values(of("bytes")).total[0];
  const byClass = what.class >= 0 ? [] : heap.data.classes.map((name, c) =>
    [name, heap.byFunction({...of("bytes"), class: c}).self]);
  const rows = [];
  heap.names.forEach((_, f) => {
    if (bytes[f] > 0 || allocs[f] > 0 || self.allocs[f] > 0)
      rows.push({functions: [f]});
  });
  const value = numbers => r => numbers[r.functions[0]];
  // What is counted, if that is neither bytes nor allocations, comes first.
  const main = what.metric, counted = main === "bytes" || main === "allocs" ? [] :
    [["itself", self[main]], ["in all", heap.totals(what)]].flatMap(([text, numbers]) =>
      [number(`${METRICS[main][0]} ${text}`, value(numbers)),
        share(value(numbers), heap.values(what).total[0])]);
  return {rows, sort: main === "allocs" ? 3 : 1, next: counted.length ? 3 : 4, columns: [
    {title: "function", functions: r => r.functions}, ...counted,
    number("bytes itself", value(self.bytes)), share(value(self.bytes), whole),
    number("allocations itself", value(self.allocs)),
    number("bytes in all", value(bytes)), share(value(bytes), whole),
    number("allocations in all", value(allocs)),
    ...byClass.map(([name, numbers]) => ({title: `% ${name}`, of: value(numbers),
      cell: r => brief(value(numbers)(r), value(self.bytes)(r))})).map(c =>
      ({...c, of: r => c.of(r) / (value(self.bytes)(r) || 1)})),
    ...metrics.filter(m => m !== "bytes" && m !== "allocs" && m !== main)
      .map(m => number(`${METRICS[m][0]}, itself`, value(self[m]))),
  ], note: heap.missing > 0 && !heap.isAll(of("bytes")) ?
    "What stands below <folded> is not in the columns \"in all\" while classes, threads or " +
    "packages are chosen." : ""};
}

function callTable(heap, what) {
  const of = metric => ({...what, metric});
  const rows = new Map(), width = heap.names.length;
  for (const [column, metric] of ["bytes", "allocs"].entries())
    for (const [caller, callee, n] of heap.arcs(of(metric))) {
      const key = caller * width + callee;
      if (!rows.has(key))
        rows.set(key, {functions: [caller, callee], numbers: [0, 0]});
      rows.get(key).numbers[column] = n;
    }
  const whole = heap.values(of("bytes")).total[0];
  return {rows: [...rows.values()].filter(r => r.numbers[1] > 0), sort: what.metric === "allocs" ? 4 : 2, columns: [
    {title: "caller", functions: r => [r.functions[0]]},
    {title: "calls", functions: r => [r.functions[1]]},
    number("bytes", r => r.numbers[0]), share(r => r.numbers[0], whole),
    number("allocations", r => r.numbers[1]),
  ]};
}

function chainTable(heap, what, main) {
  const metrics = main === "bytes" ? ["bytes", "allocs"] :
    main === "temporary" ? ["temporary", "allocs", "bytes"] : [main, `${main}Allocs`, "bytes"];
  const self = metrics.map(metric => heap.values({...what, metric}).self);
  const rows = [], whole = sum(self[0]);
  for (let i = 1; i < heap.count; i++)
    if (self[0][i] > 0)
      rows.push({node: i, get functions() { return heap.chain(i); }});
  return {rows, sort: main === "bytes" && what.metric === "allocs" ? 2 : 0, columns: [
    number(METRICS[metrics[0]][0], r => self[0][r.node]), share(r => self[0][r.node], whole),
    ...metrics.slice(1).map((m, k) => number(METRICS[m][0], r => self[k + 1][r.node])),
    {title: "chain, from the allocator out", functions: r => r.functions, node: r => r.node},
  ]};
}

function lineTable(heap, what) {
  const metrics = [...new Set([what.metric, "bytes", "allocs"])], whole = metric =>
    heap.values(everything(metric)).total[0];
  const rows = heap.lines.map(line => ({functions: [line.fn], line, text: line.place}));
  return {rows, sort: 2, note: "Of all classes and threads, with what the call at the line led to.",
    columns: [
      {title: "function", functions: r => r.functions}, {title: "line", text: r => r.text},
      ...metrics.flatMap(m => [number(METRICS[m][0], r => r.line.numbers[heap.lineIndex[m]]),
        share(r => r.line.numbers[heap.lineIndex[m]], whole(m))]),
    ]};
}

function typeTable(heap) {
  const {types, classes, bytes} = heap.data, most = Math.max(...types.map(t => t[4]));
  const rows = types.filter(t => t[3] > 0).map(t => ({type: t, text: `${t[0]} ${t[1]}`}));
  return {rows, sort: 2,
    note: "Of all threads.", columns: [
      {title: "type", text: r => r.type[1] ? `${r.type[0]}  ${r.type[1]}` : r.type[0]},
      {title: "class", of: r => r.type[2], cell: r => classes[r.type[2]]},
      number("bytes", r => r.type[4]), share(r => r.type[4], bytes), bar(r => r.type[4], most),
      number("allocations", r => r.type[3]), number("objects", r => r.type[5]),
      number("bytes of storage", r => r.type[6]),
    ]};
}

function sizeTable(heap) {
  const {sizes, bytes, largestBin} = heap.data, most = Math.max(...sizes.map(s => s[2]));
  return {rows: sizes.map(s => ({size: s, text: s[5].join(" ")})), sort: 1,
    note: "Of all threads.  Types are those of the program that have this size.", columns: [
      {title: "size", of: r => r.size[0], cell: r => r.size[0] > largestBin ?
        `> ${grouped(largestBin)}` : grouped(r.size[0])},
      number("bytes", r => r.size[2]), share(r => r.size[2], bytes), bar(r => r.size[2], most),
      number("allocations", r => r.size[1]), number("bytes never freed", r => r.size[4]),
      number("objects never freed", r => r.size[3]),
      {title: "types", text: r => r.size[5].join(", ")},
    ]};
}

function threadTable(heap, what) {
  const rows = heap.data.threads.map((name, t) => ({text: name, numbers: heap.metrics.map(metric =>
    heap.values({...what, thread: t, metric}).total[0])})).filter(r => sum(r.numbers) > 0);
  return {rows, sort: 1 + heap.metrics.indexOf("bytes"), columns: [
    {title: "thread", text: r => r.text},
    ...heap.metrics.map((m, k) => number(METRICS[m][0], r => r.numbers[k])),
  ]};
}

// Elements

function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key === "onclick")
      e.addEventListener("click", value);
    else if (value !== undefined && value !== false)
      e.setAttribute(key, value === true ? "" : value);
  e.append(...children);
  return e;
}

function functionCell(heap, column, row, link) {
  const cell = element("td", {class: "text"}), list = column.functions(row);
  // A function that calls itself is there once.
  list.slice(0, 60).forEach((f, i) => {
    if (i > 0 && list[i - 1] === f)
      return;
    let times = 1;
    while (list[i + times] === f)
      times++;
    cell.append(i ? " ← " : "", link(f), times > 1 ? ` ×${times}` : "");
  });
  if (list.length > 60)
    cell.append(` ← … ${list.length - 60} more`);
  if (column.node)
    cell.append(" ", link(column.node(row), true));
  return cell;
}

function rowElement(heap, columns, row, link) {
  return element("tr", {}, ...columns.map(column => {
    if (column.functions)
      return functionCell(heap, column, row, link);
    if (column.text)
      return element("td", {class: "text"}, column.text(row));
    const content = column.cell(row);
    if (!column.isBar)
      return element("td", {}, content);
    const bar = element("i");
    bar.style.width = `${Math.max(100 * content, 0.5)}%`;
    return element("td", {class: "bar-cell"}, bar);
  }));
}

// Rows that have as much come as the column `next` of the table says.
function compareBy(heap, column, next) {
  if (column.of)
    return (a, b) => column.of(b) - column.of(a) || (next ? next.of(b) - next.of(a) : 0);
  const text = column.text || (r => column.functions(r).map(f => heap.names[f]).join(" "));
  return (a, b) => text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0;
}

// Fill AREA with TABLE, sorted by its column SORT, backwards if that is below 0
// (then it is -1 - column).  LINK makes the link of a function.
function showTable(area, heap, table, matches, sort, link, sortBy) {
  const {columns} = table, by = sort === null ? table.sort : sort;
  const column = columns[by < 0 ? -1 - by : by] || columns[table.sort];
  const rows = matches ? table.rows.filter(matches) : [...table.rows];
  rows.sort(compareBy(heap, column, columns[table.next]));
  if (by < 0)
    rows.reverse();
  const body = element("tbody"), more = element("button", {type: "button"});
  const head = element("tr", {}, ...columns.map((c, i) => {
    if (c.isBar)
      return element("th");
    const isBy = c === column, rises = c.of ? by < 0 : by >= 0;
    return element("th", {class: c.cell ? undefined : "text", scope: "col",
      "aria-sort": isBy && (rises ? "ascending" : "descending")},
    element("button", {type: "button", onclick: () => sortBy(isBy && by >= 0 ? -1 - i : i)},
      c.title + (isBy ? rises ? " ▴" : " ▾" : "")));
  }));
  let shown = 0;
  const showMore = count => {
    for (const row of rows.slice(shown, shown + count))
      body.append(rowElement(heap, columns, row, link));
    shown = Math.min(rows.length, shown + count);
    more.textContent = `${grouped(rows.length - shown)} more rows: show ` +
      `${grouped(Math.min(MORE_ROWS, rows.length - shown))}`;
    more.hidden = shown >= rows.length;
  };
  more.addEventListener("click", () => showMore(MORE_ROWS));
  showMore(SOME_ROWS);
  // Whoever sorts by keyboard goes on there.
  const at = [...area.querySelectorAll("th button")].indexOf(document.activeElement);
  area.replaceChildren(element("table", {}, element("thead", {}, head), body), more);
  area.querySelectorAll("th button")[at]?.focus({preventScroll: true});
  area.dataset.rows = rows.length;
}

// The heap over time

function svg(name, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// WIDTH pixels wide, so that letters have their size.
function curvePicture(heap, width) {
  const {curve, duration, marks, peak} = heap.data;
  const height = 240, left = 120, bottom = 30, top = 20, parts = width < 600 ? 2 : 4;
  const end = Math.max(duration, curve[curve.length - 1][0], 1);
  const most = Math.max(...curve.map(p => p[1]), 1);
  const x = t => left + (width - left - 10) * t / end;
  const y = b => top + (height - top - bottom) * (1 - b / most);
  const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `The heap over time, ${grouped(most)} bytes at most`});
  for (let i = 0; i <= parts; i++) {
    const bytes = most * i / parts, time = end * i / parts;
    picture.append(svg("line", {class: "axis", x1: left, x2: width - 10, y1: y(bytes), y2: y(bytes)}),
      svg("text", {x: left - 8, y: y(bytes) + 4, "text-anchor": "end"}, grouped(bytes)),
      svg("text", {x: x(time), y: height - 8, "text-anchor": i === parts ? "end" : "middle"},
        seconds(time)));
  }
  for (const [time, name] of marks)
    picture.append(svg("line", {class: "mark", x1: x(time), x2: x(time), y1: top, y2: height - bottom}),
      svg("text", {x: x(time) + 4, y: top + 10}, name));
  let d = `M${x(0)},${y(0)}`;
  for (const [time, bytes] of curve)
    d += heap.isLisp ? `L${x(time).toFixed(1)},${y(bytes).toFixed(1)}` :
      `H${x(time).toFixed(1)}V${y(bytes).toFixed(1)}`;
  picture.append(svg("path", {class: "line", d}));
  if (!heap.isLisp && peak[1] > 0)
    picture.append(svg("circle", {cx: x(peak[0]), cy: y(peak[1]), r: 4, class: "line"}),
      svg("text", {x: Math.min(x(peak[0]) + 8, width - 220), y: y(peak[1]) - 6}, `peak ${grouped(peak[1])} bytes`));
  return picture;
}

// The lines of HEAP's source that LINES name, of its first file, with their numbers at
// INDEX and the lines around them.
function sourceRows(heap, lines, index) {
  const {file} = lines[0];
  const marked = new Map(lines.filter(l => l.file === file).slice(0, 8).map(l => [l.line, l]));
  const around = new Set([...marked.keys()].flatMap(n => [-3, -2, -1, 0, 1, 2, 3].map(k => n + k)));
  const most = grouped(lines[0].numbers[index]).length;
  let last = 0;
  return [...around].sort((a, b) => a - b).flatMap(n => {
    const line = marked.get(n), text = heap.source.get(`${file}:${n}`);
    if (!line && text === undefined)
      return [];
    const gap = last > 0 && n > last + 1 ? ["\n"] : [];
    last = n;
    const row = `${(line ? grouped(line.numbers[index]) : "").padStart(most)} ` +
      `${String(n).padStart(6)}  ${text ?? ""}`;
    return [...gap, line ? element("mark", {}, row) : row, "\n"];
  });
}
