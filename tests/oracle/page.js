// page.js - uses the page of `mprof html` that it was put into, as its user would,
// and writes into it what the functions have, and a line for what is not right.
"use strict";
const results = [], wrong = [];

function expect(what, is) {
  if (!is)
    wrong.push(what);
}

function same(what, found, wanted) {
  expect(`${what}: ${found}, not ${wanted}`, found === wanted);
}

// After ACTION the page is drawn anew, or, if it is to stay, not.
async function after(action) {
  const before = document.body.dataset.ready;
  action();
  for (let i = 0; i < 200 && document.body.dataset.ready === before; i++)
    await new Promise(done => setTimeout(done, 5));
  expect(`nothing happened: ${action}`, document.body.dataset.ready !== before);
}

function choose(id, value) {
  $(id).value = value;
  $(id).dispatchEvent(new Event(id === "search" ? "input" : "change", {bubbles: true}));
}

function press(key) {
  $("graph").focus();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
}

function clickBox(box) {
  $("graph").scrollTop = Math.max(0, box.row * ROW - 50);
  const area = $("canvas").getBoundingClientRect();
  const to = {clientX: area.left + box.x + box.w / 2, bubbles: true,
    clientY: area.top + (box.row + 0.5) * ROW - $("graph").scrollTop};
  $("canvas").dispatchEvent(new MouseEvent("mousemove", to));
  $("canvas").dispatchEvent(new MouseEvent("click", to));
}

// Chains as they are in the data, without what model.js makes of them.
function* samplesOf(data, metric) {
  const {up, function: functions} = data.tree, chains = [[]], path = [[]];
  up.forEach((n, i) => {
    path.length -= n;
    chains.push([...path[path.length - 1], functions[i]]);
    path.push(chains[i + 1]);
  });
  let node = 0;
  for (let i = 0; i < data.samples.node.length; i++) {
    node += data.samples.node[i];
    yield {chain: chains[node], number: data.samples[metric][i],
      class: data.samples.class[i], thread: data.samples.thread[i],
      type: data.samples.type ? data.samples.type[i] : 0};
  }
}

function sumOf(data, metric, wanted) {
  let sum = 0;
  for (const sample of samplesOf(data, metric))
    sum += wanted(sample) ? sample.number : 0;
  return sum;
}

function putFunctions() {
  for (const metric of heap.metrics) {
    const what = everything(metric), {self, total} = heap.byFunction(what);
    const exact = heap.totals(what);
    heap.names.forEach((name, f) => {
      if (self[f] > 0 || exact[f] > 0)
        results.push([metric, name, self[f], exact[f]].join("\t"));
      if (heap.data.folded === 0 && heap.data.leftOut === 0)
        same(`${metric} of ${name} by chains`, total[f], exact[f]);
    });
  }
}

function testArcs() {
  const found = new Map([...heap.byArc(everything("bytes")).values()]
    .filter(arc => arc[2] > 0).map(arc => [`${arc[0]} ${arc[1]}`, arc[2]]));
  if (heap.data.folded > 0 || heap.data.leftOut > 0)
    return;
  for (const [caller, callee, , bytes] of heap.data.arcs)
    if (bytes > 0) {
      same(`call of ${heap.names[callee]}`, found.get(`${caller} ${callee}`), bytes);
      found.delete(`${caller} ${callee}`);
    }
  same("other calls", found.size, 0);
}

// Boxes lie within those of their callers, and are drawn in their colours.
function testBoxes(view) {
  const byBranch = new Map(graph.boxes.map(box => [box.branch, box]));
  // Of a function in folded chains alone there is nothing further out or in.
  const folded = view === "function" && graph.boxes.some(b => heap.names[b.branch.fn] === "<folded>");
  expect(`${view}: ${graph.boxes.length} boxes`, graph.boxes.length > (folded ? 1 : 2));
  for (const box of graph.boxes) {
    const outer = byBranch.get(box.branch.parent);
    if (outer)
      expect(`${view}: ${graph.name(box.branch)} lies outside`, box.x >= outer.x - 0.01 &&
        box.x + box.w <= outer.x + outer.w + 0.01);
    const up = view === "function" && box.branch.brought;
    expect(`${view}: ${graph.name(box.branch)} in row ${box.row}`, !outer || !box.branch.parent.parent ||
      box.row - outer.row === (up ? -1 : 1));
  }
  $("graph").scrollTop = 0;
  graph.draw();
  const wide = graph.boxes.find(b => b.w > 20 && b.row * ROW < graph.height - ROW && b.row > 0);
  const scale = $("canvas").width / graph.width;
  const [red, green, blue, alpha] = $("canvas").getContext("2d").getImageData(
    (wide.x + wide.w / 2) * scale, (wide.row * ROW + 1) * scale, 1, 1).data;
  expect(`${view}: nothing is drawn: ${[red, green, blue, alpha]}`, alpha === 255);
}

async function testViews() {
  const all = heap.values(everything("bytes")).total[0];
  testBoxes("top");
  same("width of all", graph.boxes[0].w, graph.width);
  await after(() => document.querySelector("[data-view=inverted]").click());
  testBoxes("inverted");
  same("bytes of all allocators", sum(graph.views[0].kids().map(k => k.value)), all);
  const deep = graph.views[0].kids().reduce((a, b) => b.value > a.value ? b : a);
  const byFunction = heap.byFunction(everything("bytes"));
  same("the largest allocator", deep.value, byFunction.self[deep.fn]);
  await after(() => document.querySelector("[data-view=function]").click());
  const f = chosenFunction();
  for (const view of graph.views)
    same("one function", view.value, byFunction.total[f]);
  testBoxes("function");
  expect("callers stand above", graph.above > 0 &&
    graph.boxes.every(b => b.branch.brought ? b.row < graph.above : b.row >= graph.above));
  const callees = sum(graph.views[1].kids(graph.values.total).map(k => k.value));
  expect("what it calls has more", callees <= byFunction.total[f]);
  await after(() => document.querySelector("#neighbours a").click());
  expect("the link of a caller", state.view === "function" && state.fn !== "");
  await after(() => document.querySelector("[data-view=top]").click());
}

// What is said of a branch has its number, or both in a difference.
const numberOf = branch => heap.isDiff ? inWords(state.metric, branch.sides) : grouped(branch.value);

async function testZoom() {
  const box = graph.boxes.filter(b => b.row === 2 && b.w > 4).sort((a, b) => a.w - b.w)[0];
  const {fn} = box.branch;
  await after(() => clickBox(box));
  expect("the number under the mouse", $("tip").textContent.includes(numberOf(box.branch)));
  same("functions above", numbersOf(state.zoom).length, 2);
  testSource(fn);
  const large = graph.boxes.find(b => b.row === 2);
  same("what was clicked", large.branch.fn, fn);
  same("its width", large.w, graph.width);
  expect("its callers are there", graph.boxes.filter(b => b.isAbove).length === 2);
  $("graph").dispatchEvent(new MouseEvent("mousemove", {clientX: -9, clientY: -9}));
  expect("its number is told", $("chosen").textContent.includes(numberOf(large.branch)));
  await after(() => press("Escape"));
  same("after Escape", numbersOf(state.zoom).length, 1);
  await after(() => $("whole").click());
  same("after Show all", state.zoom, "");
}

// The lines of F stand below the picture, and the first one at the mouse.
function testSource(f) {
  const lines = heap.linesOf(f, state.metric), text = $("source").textContent;
  same("lines are shown", $("source").hidden, lines.length === 0);
  if (lines.length === 0)
    return;
  const number = grouped(lines[0].numbers[heap.lineIndex[state.metric]]);
  expect(`lines: ${text}`, text.includes(number) && text.includes(heap.names[f]));
  expect(`the line at the mouse: ${$("tip").textContent}`, $("tip").textContent.includes(lines[0].place));
}

async function testKeys() {
  press("ArrowDown");
  same("first box", graph.chosen.branch.fn, -1);
  press("ArrowDown");
  press("ArrowDown");
  same("row", graph.chosen.row, 2);
  const {fn} = graph.chosen.branch;
  expect("what is chosen is told", $("chosen").textContent.includes(heap.names[fn]));
  press("ArrowUp");
  same("row after ArrowUp", graph.chosen.row, 1);
  press("ArrowDown");
  await after(() => press("Enter"));
  same("enlarged", numbersOf(state.zoom)[1], fn);
  press("ArrowDown");
  await after(() => press("f"));
  expect("one function", state.view === "function" && state.zoom === "");
  press("/");
  same("after /", document.activeElement, $("search"));
  await after(() => document.querySelector("[data-view=top]").click());
}

async function testSearch() {
  const name = heap.names[largest(heap.byFunction(everything("bytes")).self)];
  const text = name.replace(/[^\w]/g, "."), expression = new RegExp(text, "i");
  await after(() => choose("search", text));
  const has = heap.names.map(n => expression.test(n));
  same("what was found", +$("matched").dataset.sum,
    sumOf(heap.data, "bytes", s => s.chain.some(f => has[f])));
  same("rows", +$("table").dataset.rows, heap.names.filter((n, f) =>
    has[f] && heap.totals(everything("allocs"))[f] > 0).length);
  expect("the colour of what was found", graph.boxes.some(b => graph.fill(b.branch) === MATCH));
  await after(() => choose("search", "."));
  same("when all is found", +$("matched").dataset.sum, graph.values.total[0]);
  await after(() => choose("search", "("));
  same("what is no expression", $("search").getAttribute("aria-invalid"), "true");
  await after(() => choose("search", ""));
  same("without a search", $("search").getAttribute("aria-invalid"), null);
}

async function testChoices() {
  const {data} = heap;
  for (let c = 0; c < data.classes.length; c++) {
    await after(() => choose("class", String(c)));
    same(`class ${c}`, graph.values.total[0], sumOf(data, "bytes", s => s.class === c));
  }
  for (let t = 0; t < Math.min((data.types ?? []).length, 20); t++) {
    await after(() => choose("class", String(data.classes.length + t)));
    same(`type ${data.types[t][0]}`, graph.values.total[0],
      sumOf(data, "bytes", s => s.type === t + 1));
    same(`all of ${data.types[t][0]}`, graph.values.total[0], data.types[t][4]);
  }
  await after(() => choose("class", "-1"));
  for (const metric of heap.metrics.slice(1)) {
    await after(() => choose("metric", metric));
    same(metric, graph.values.total[0], sumOf(data, metric, () => true));
  }
  await after(() => choose("metric", "bytes"));
  for (const {value} of [...$("thread").options].slice(1)) {
    await after(() => choose("thread", value));
    same(`thread ${value}`, graph.values.total[0], sumOf(data, "bytes", s => s.thread === +value));
    await after(() => choose("thread", "-1"));
  }
}

async function testHiding() {
  const box = document.querySelector("#groups input"), all = graph.values.total[0];
  if (!box)
    return;
  await after(() => box.click());
  same("bytes when a group is hidden", graph.values.total[0], all);
  expect("what is hidden", !graph.boxes.some(b => heap.groups[b.branch.fn] === +box.value));
  const {self} = heap.byFunction(everything("bytes"));
  const own = new Float64Array(self.length);
  let top = 0;
  for (const s of samplesOf(heap.data, "bytes")) {
    const f = [...s.chain].reverse().find(g => heap.groups[g] !== +box.value);
    if (f === undefined)
      top += s.number;
    else
      own[f] += s.number;
  }
  heap.names.forEach((name, f) => same(`${name} with what is hidden`, self[f], own[f]));
  same("what has no function", heap.values(chosen()).self[0], top);
  await after(() => box.click());
}

async function testTables() {
  for (const name of tablesOf(heap)) {
    if (state.table !== name)
      await after(() => document.querySelector(`[data-table=${name}]`).click());
    const rows = +$("table").dataset.rows;
    expect(`${name}: ${rows} rows`, rows > 0 || ["kept", "temporary", "peak"].includes(name));
    same(`${name}: rows shown`, document.querySelectorAll("#table tbody tr").length,
      Math.min(rows, SOME_ROWS));
  }
  await after(() => document.querySelector("[data-table=functions]").click());
  const number = i => +document.querySelectorAll("#table tbody tr td:nth-child(5)")[i]
    .textContent.replaceAll(",", "");
  await after(() => document.querySelectorAll("#table th button")[4].click());
  const bytes = heap.totals(everything("bytes"));
  const there = Array.from(bytes).filter((n, f) =>
    n > 0 || heap.totals(everything("allocs"))[f] > 0);
  same("most in all first", number(0), Math.max(...there));
  await after(() => document.querySelectorAll("#table th button")[4].click());
  same("least in all first", number(0), Math.min(...there));
  document.querySelectorAll("#table th button")[5].focus();
  await after(() => document.activeElement.click());
  same("what has the focus", document.activeElement,
    document.querySelectorAll("#table th button")[5]);
  const seen = () => $("graph").getBoundingClientRect();
  const last = [...document.querySelectorAll("#table tbody a")].pop();
  last.scrollIntoView({block: "end"});
  const head = document.querySelector("#table th").getBoundingClientRect();
  expect("the page scrolls sideways", document.documentElement.scrollWidth <= innerWidth);
  same("the head of a table stays", Math.round(head.top), Math.round(Math.max(
    $("table").getBoundingClientRect().top, innerWidth > 1440 ? $("controls").getBoundingClientRect().bottom : -9)));
  const place = scrollY;
  await after(() => last.click());
  same("the link of a function", state.view, "function");
  expect("the picture is seen", seen().top >= 0 && seen().top < innerHeight / 2);
  await after(() => history.back());
  same("the place after Back", scrollY, place);
  await after(() => choose("metric", "allocs"));
  const linkIn = text => [...document.querySelectorAll("#summary a[data-fn]")]
    .find(a => a.closest("li").textContent.includes(text));
  const metricIn = text => text.includes("at the peak") ? "peak" :
    text.includes("unfreed bytes") ? "kept" : text.includes("live bytes") ? "alive" : "allocs";
  const first = linkIn("").closest("li").textContent;
  await after(() => linkIn("").click());
  same("what is counted", state.metric, metricIn(first));
  if (linkIn("at the peak") && state.metric !== "peak") {
    await after(() => linkIn("at the peak").click());
    same("what is counted of the peak", state.metric, "peak");
  }
  testSourceOfFunction();
  await after(() => choose("metric", "bytes"));
}

function testSourceOfFunction() {
  same("lines of one function", $("source").hidden,
    heap.linesOf(chosenFunction(), state.metric).length === 0);
}

// The table of what keeps live objects as boxes: each row is one.
async function testKept() {
  const rows = heap.data.keptBy ?? [], button = document.querySelector("[data-view=kept]");
  same("what keeps it can be seen", button.hidden, rows.length === 0);
  if (button.hidden)
    return;
  await after(() => button.click());
  testBoxes("kept");
  same("bytes of all roots", graph.views[0].value, sum(rows.filter(r => r[0] === 0).map(r => r[2])));
  for (const {branch} of graph.boxes.slice(1)) {
    const [, label, bytes] = rows[branch.key];
    expect(`kept: ${label}`, label === graph.name(branch) && bytes === branch.value &&
      sum(branch.kids().map(k => k.value)) <= bytes);
  }
  const box = graph.boxes.find(b => b.row === 1);
  await after(() => clickBox(box));
  same("the root that was clicked", state.zoom, String(box.branch.key));
  expect("what it keeps is told", $("chosen").textContent.includes(grouped(box.branch.value)) &&
    $("crumbs").textContent.includes(box.branch.label));
  await after(() => choose("search", box.branch.label.replace(/[^\w]/g, ".")));
  same("the colour of the root", graph.fill(graph.top), MATCH);
  await after(() => choose("search", ""));
  await after(() => document.querySelector("[data-view=top]").click());
}

// No other page can be told by what a data file has in it.
function testContent() {
  same("scripts", document.scripts.length, 3);
  const allowed = new Set(("HTML HEAD META TITLE STYLE BODY HEADER H1 H2 LABEL SELECT OPTION " +
    "MAIN SECTION UL LI A DETAILS SUMMARY PRE FORM SPAN INPUT DIV BUTTON I CANVAS P TABLE " +
    "THEAD TBODY TR TH TD MARK NOSCRIPT SCRIPT svg line text path circle").split(" "));
  for (const e of document.querySelectorAll("*"))
    expect(`an element ${e.tagName}`, allowed.has(e.tagName));
  if (!heap.isDiff)
    same("the program", $("title").textContent, heap.data.command);
  expect("sentences", document.querySelectorAll("#summary li").length >= 2);
  expect("too many sentences", document.querySelectorAll("#summary li").length <= SENTENCES);
}

// Two recordings, of which the numbers of each are counted from the data.
const lists = new Map();
function listOf(data, metric) {
  if (!lists.has(data))
    lists.set(data, {});
  return lists.get(data)[metric] ??= [...samplesOf(data, metric)];
}

function sidesOfChains(metric, wanted) {
  const sides = [0, 0];
  for (const s of listOf(heap.data, metric))
    sides[s.thread] += wanted(s.chain) ? s.number : 0;
  return sides;
}

const near = (a, b) => a.every((n, i) => Math.abs(n - b[i]) < 1e-6 * (1 + Math.abs(n)));

function sameSides(what, found, wanted) {
  expect(`${what}: ${found}, not ${wanted}`, near(found, wanted));
}

function pathOf(branch) {
  const path = [];
  for (let b = branch; b.fn >= 0; b = b.parent)
    path.unshift(b.fn);
  return path;
}

// A box is as wide as the larger one of both, chain by chain.
function widthOf(metric, wanted) {
  const chains = new Map();
  for (const s of listOf(heap.data, metric).filter(s => wanted(s.chain))) {
    const key = s.chain.join(" ");
    if (!chains.has(key))
      chains.set(key, [0, 0]);
    chains.get(key)[s.thread] += s.number;
  }
  return sum([...chains.values()].map(sides => Math.max(...sides)));
}

function testDifferenceBoxes(view, isIn) {
  for (const box of graph.boxes.slice(0, 30)) {
    const path = pathOf(box.branch), {sides} = box.branch;
    sameSides(`${view}: ${graph.name(box.branch)}`, sides,
      sidesOfChains(state.metric, chain => isIn(chain, path)));
    sameSides(`${view}: width of ${graph.name(box.branch)}`, [box.branch.value],
      [widthOf(state.metric, chain => isIn(chain, path))]);
    const [red, , blue] = colourOf(box);
    const part = partChanged(sides);
    expect(`${view}: the colour of ${graph.name(box.branch)}`,
      part === 0 ? red === blue : part > 0 ? red > blue : blue > red);
  }
}

function colourOf(box) {
  const c = document.createElement("canvas").getContext("2d");
  c.fillStyle = graph.fill(box.branch);
  c.fillRect(0, 0, 1, 1);
  return c.getImageData(0, 0, 1, 1).data;
}

function putDifference() {
  const what = everything("bytes"), total = heap.functions(what, true);
  heap.names.forEach((name, f) => {
    if (change(total[f]) !== 0)
      results.push(["bytes", name, ...total[f]].join("\t"));
  });
}

async function testDifference() {
  const {data} = heap, starts = (chain, path) => path.every((f, i) => chain[i] === f);
  const ends = (chain, path) => starts([...chain].reverse(), path);
  sameSides("all", heap.whole(everything("bytes")), [data.oldBytes * data.factor, data.bytes]);
  sameSides("allocations", heap.whole(everything("allocs")), [data.oldAllocs * data.factor, data.allocs]);
  testBoxes("top");
  testDifferenceBoxes("top", starts);
  await after(() => choose("metric", "allocs"));
  testDifferenceBoxes("allocs", starts);
  await after(() => document.querySelector("[data-view=inverted]").click());
  testDifferenceBoxes("inverted", ends);
  await after(() => choose("metric", "bytes"));
  await after(() => document.querySelector("[data-view=function]").click());
  const f = chosenFunction(), has = sidesOfChains("bytes", chain => chain.includes(f));
  for (const view of graph.views)
    sameSides("one function", view.sides, has);
  same("what changed most", f, heap.mostChanged(everything("bytes")));
  await after(() => document.querySelector("[data-view=top]").click());
  await testZoom();
  await testKeys();
  for (const name of tablesOf(heap)) {
    if (state.table !== name)
      await after(() => document.querySelector(`[data-table=${name}]`).click());
    expect(`${name}: no rows`, +$("table").dataset.rows > 0);
    const numbers = [...document.querySelectorAll("#table tbody tr")].map(row =>
      [...row.querySelectorAll("td")].map(cell => cell.textContent)
        .filter(text => /^[+\u2212]?[\d,]+$/.test(text))
        .map(text => +text.replaceAll(",", "").replace("\u2212", "-")));
    for (const row of numbers)
      expect(`${name}: ${row}`, data.factor !== 1 || row[1] - row[0] === row[2]);
    const by = numbers.map(row => Math.abs(row[2]));
    expect(`${name} is sorted`, by.every((n, i) => i === 0 || by[i - 1] >= n));
  }
  await after(() => document.querySelector("[data-table=functions]").click());
}

async function test() {
  for (let i = 0; i < heaps.length; i++) {
    if (+state.heap !== i)
      await after(() => choose("heap", String(i)));
    testContent();
    if (heap.isDiff) {
      putDifference();
      await testDifference();
      continue;
    }
    if (i === 0)
      putFunctions();
    testArcs();
    await testViews();
    await testZoom();
    await testKeys();
    await testSearch();
    await testChoices();
    await testHiding();
    await testTables();
    await testKept();
  }
}

window.onerror = message => { wrong.push(message); };
test().catch(error => wrong.push(error.stack)).finally(() => {
  const pre = document.createElement("pre");
  pre.textContent = `FUNCTIONS\n${results.join("\n")}\nEND\n` +
    `${wrong.slice(0, 20).map(w => `WRONG ${w}`).join("\n")}\nDONE`;
  document.body.append(pre);
});
