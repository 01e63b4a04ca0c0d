// page.js - the page: what is chosen stands behind # in its address, from which
// all is drawn anew when it changes.

const $ = id => document.getElementById(id);
const page = JSON.parse($("data").textContent);
const heaps = page.heaps.map(() => null);
const DEFAULTS = {heap: "0", view: "top", metric: "bytes", class: "-1", thread: "-1",
  search: "", hide: "", zoom: "", fn: "", table: "functions", sort: ""};
const SENTENCES = 4; // that are seen at once
let state, heap, graph, hiddenGroups, backTo;

const readState = () =>
  ({...DEFAULTS, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1)))});

function address(changes) {
  const next = {...state, ...changes};
  return "#" + new URLSearchParams(Object.entries(next).filter(([k, v]) => v !== DEFAULTS[k]));
}

// Another state: REPLACE leaves no way back to this one.
function go(changes, replace) {
  const to = address(changes);
  if (to === (location.hash || "#"))
    return;
  keepPlace();
  if (replace)
    location.replace(to);
  else
    location.hash = to;
}

// Who comes back finds the place again.
function keepPlace() {
  history.replaceState({y: scrollY}, "");
}

const numbersOf = text => text === "" ? [] : text.split(".").map(Number);
const chosen = () => ({metric: state.metric, class: +state.class, thread: +state.thread});

function setOptions(select, options, value) {
  const same = [...select.options].map(o => o.value + o.text).join("\n") ===
    options.map(o => o[0] + o[1]).join("\n");
  if (!same)
    select.replaceChildren(...options.map(([v, text]) => element("option", {value: v}, text)));
  select.value = value;
}

// What of the state the heap does not have, such as a metric of C, is not kept.
function checkState() {
  if (!page.heaps[state.heap])
    state.heap = "0";
  heap = heaps[state.heap] ??= makeHeap(page.heaps[state.heap]);
  if (!heap.metrics.includes(state.metric))
    state.metric = "bytes";
  if (!heap.sorts[state.class])
    state.class = "-1";
  if (heap.isDiff || !heap.data.threads[state.thread])
    state.thread = "-1";
  if (!tablesOf(heap).includes(state.table))
    state.table = "functions";
  if (!(state.view in VIEWS) || (state.view === "kept" && !hasKept(heap)))
    state.view = "top";
  if (!heap.names[state.fn])
    state.fn = "";
}

function showControls() {
  const used = new Set(heap.threads);
  setOptions($("metric"), heap.metrics.map(m => [m, METRICS[m][0]]), state.metric);
  $("graph-title").textContent = state.view === "kept" ?
    "What keeps live objects, by the bytes that would be free without it" :
    `Chains of callers, by ${METRICS[state.metric][0]}${state.metric === "bytes" ? " allocated" : ""}`;
  setOptions($("class"), [["-1", "all"], ...heap.sorts.map((c, i) => [String(i), c])
    .filter(([i]) => heap.hasSort(+i))],
    state.class);
  setOptions($("thread"), [["-1", "all"], ...heap.data.threads.map((t, i) => [String(i), t])
    .filter(([i]) => used.has(+i))], state.thread);
  $("thread-choice").hidden = used.size < 2 || Boolean(heap.isDiff);
  $("class-label").textContent = heap.isLisp ? "Class or type" : "Sizes";
  if ($("search") !== document.activeElement)
    $("search").value = state.search;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", button.dataset.view === state.view);
    button.hidden = button.dataset.view === "kept" && !hasKept(heap);
  }
}

// The packages and files, those with most first, with boxes to hide them.
function showGroups() {
  const {self} = heap.byFunction(everything("bytes"));
  const sums = new Float64Array(heap.data.groups.length + 1);
  const used = new Uint8Array(sums.length);
  for (let i = 1; i < heap.count; i++)
    used[heap.groups[heap.fn[i]]] = 1;
  self.forEach((n, f) => { sums[heap.groups[f]] += n; });
  const order = heap.data.groups.map((_, i) => i + 1).filter(g => used[g])
    .sort((a, b) => sums[b] - sums[a] || a - b);
  $("groups").replaceChildren(...order.map(g => {
    const box = element("input", {type: "checkbox", value: g});
    box.checked = hiddenGroups.has(g);
    return element("label", {}, box, " ", heap.data.groups[g - 1]);
  }));
  $("hiding").hidden = order.length < 2;
}

// METRIC: what it counts; null: what is counted when it is followed.
function link(f, isNode, text, metric = null) {
  if (isNode)
    return element("a", {href: address({view: "top", metric: state.metric,
      zoom: heap.chain(f).reverse().join(".")}) + "", title: "this chain in the picture"}, "⤢");
  return element("a", {href: address({view: "function", fn: String(f), zoom: "",
    ...metric && {metric}}), "data-fn": f, ...metric && {"data-metric": metric}},
  text ?? heap.names[f]);
}

function showSummary() {
  const d = heap.data;
  $("title").textContent = heap.isDiff ? `What changed: ${d.oldFile} → ${d.file}` : d.command;
  const sentences = (heap.isDiff ? summarizeDifference : summarize)(heap).map(sentence =>
    element("li", {}, ...sentence.map(part => typeof part === "number" ? link(part) :
      Array.isArray(part) ? link(part[0], false, part[1], metricOf(sentence, heap)) : part)));
  $("summary").replaceChildren(...sentences.splice(0, SENTENCES));
  $("more").hidden = sentences.length === 0;
  $("more").querySelector("ul").replaceChildren(...sentences);
  $("recorded").textContent = [`Data file ${d.file}`, ...d.header].join("\n");
  const legend = (name, background) => {
    const colour = element("i");
    colour.style.background = background;
    return element("span", {}, colour, name);
  };
  $("legend").replaceChildren(...heap.isDiff ? CHANGES.map(([name, sides]) =>
    legend(changeMark(sides) + name, changeColour(sides))) : KINDS.map((name, k) => legend(name, fillOf(k))).filter((_, k) => heap.kinds.some((kind, f) => kind === k && k < 4 && heap.usedFunction(f))));
  $("time").hidden = d.curve.length < 2;
  showCurve();
}

function showCurve() {
  if (heap.data.curve.length > 1)
    $("curve").replaceChildren(curvePicture(heap, Math.min(1000, $("curve").clientWidth || 1000)));
}

// By function whether it matches what is searched; null: nothing is.
function findMatches() {
  const input = $("search");
  input.removeAttribute("aria-invalid");
  $("matched").textContent = "";
  if (!state.search)
    return null;
  try {
    const expression = new RegExp(state.search, "i");
    return {expression, byFunction: heap.names.map(name => expression.test(name))};
  } catch {
    input.setAttribute("aria-invalid", "true");
    $("matched").textContent = "not a regular expression";
    return null;
  }
}

function matchedSum(match, total) {
  let sum = 0;
  for (let i = 1; i < heap.count;) {
    const is = heap.shown[i] === i && match.byFunction[heap.fn[i]];
    sum += is ? total[i] : 0;
    i = is ? heap.end[i] : i + 1;
  }
  return sum;
}

function showMatched(match, values) {
  const sum = matchedSum(match, values.total);
  const count = match.byFunction.filter(m => m).length;
  const numbers = heap.isDiff ?
    inWords(state.metric, values.sides.map(side => matchedSum(match, side.total))) :
    `${amount(state.metric, sum)}, ${percent(sum, values.total[0])}`;
  $("matched").textContent = count === 0 ? "nothing matches" :
    `${numbers}, with ${grouped(count)} functions`;
  $("matched").dataset.sum = sum;
}

// The function that is shown when nobody chose one: that with most.
function chosenFunction() {
  if (state.fn !== "" || heap.isDiff)
    return state.fn !== "" ? +state.fn : heap.mostChanged(chosen());
  const own = heap.ownFunction(chosen());
  return own >= 0 ? own : largest(heap.byFunction(chosen()).self);
}

function showGraph(match, values) {
  heap.current = values;
  const views = heap.remember(`v ${state.view} ${state.metric} ${state.class} ${state.thread} ` +
    `${state.view === "function" ? chosenFunction() : ""}`, () => VIEWS[state.view](values));
  graph.show(heap, state.view === "kept" ? {total: [views[0].value]} : values, views,
    numbersOf(state.zoom), match);
  $("whole").disabled = state.zoom === "";
  showCrumbs();
  showNeighbours(views);
  showSource();
  tell(null);
}

// What is enlarged: the functions from the outermost one on, each a link to it.
function showCrumbs() {
  const crumbs = $("crumbs"), zoom = numbersOf(state.zoom);
  crumbs.hidden = zoom.length === 0;
  const name = key => (state.view === "kept" ? heap.data.keptBy[key]?.[1] : heap.names[key]) ?? "";
  crumbs.replaceChildren(element("a", {href: address({zoom: ""})}, "all"),
    ...zoom.flatMap((key, i) => [" › ", i + 1 === zoom.length ? name(key) :
      element("a", {href: address({zoom: zoom.slice(0, i + 1).join(".")})}, name(key))]));
}

// The same function everywhere: in the picture, and in rows of tables.
function highlight(f) {
  if (graph.same === f)
    return;
  graph.same = f;
  graph.draw();
  for (const row of document.querySelectorAll("tr.same"))
    row.classList.remove("same");
  if (f !== null)
    for (const a of document.querySelectorAll(`td a[data-fn="${f}"]`))
      a.closest("tr").classList.add("same");
}

// At the pointer: what the box is.
function showTip(event, box) {
  const tip = $("tip");
  tip.hidden = !box;
  if (!box)
    return;
  const {branch} = box, all = graph.values.total[0], group = heap.groups[branch.fn];
  const lines = [graph.name(branch), heap.isDiff ? inWords(state.metric, branch.sides) :
    `${amount(shownMetric(), branch.value)}, ${percent(branch.value, all)}`];
  const objects = OBJECTS[state.metric];
  if (!heap.isDiff && branch.ids && !branch.brought && objects)
    lines.push(amount(objects, sum(branch.ids.map(id =>
      heap.values({...chosen(), metric: objects}).total[id]))));
  if (branch.objects !== undefined)
    lines.push(amount("aliveAllocs", branch.objects));
  const places = branch.label === undefined && branch.fn >= 0 ? heap.linesOf(branch.fn, state.metric) : [];
  if (places.length > 0)
    lines.push(places[0].place + (places.length > 1 ? ` and ${counted(places.length - 1, "line")} more` : ""));
  if (branch.fn >= 0 && group)
    lines.push(heap.data.groups[group - 1]);
  tip.replaceChildren(...lines.map(line => element("div", {}, line)));
  tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ?
    event.clientY - tip.offsetHeight - 8 : event.clientY + 18}px`;
}

// Beside the picture of one function: its callers, and what it calls.
function showNeighbours(views) {
  const area = $("neighbours");
  area.replaceChildren();
  if (views.length < 2)
    return;
  [["callers", views[0]], ["calls", views[1]]].forEach(([title, view]) => {
    const kids = view.kids(graph.values.total), part = element("div");
    const rest = view.value - sum(kids.map(k => k.value));
    const rows = kids.map(k => ({functions: [k.fn], n: k.value, sides: heap.isDiff && k.sides}));
    if (rest > 0 && title === "calls")
      rows.push({functions: [], text: "itself", n: rest, sides: heap.isDiff &&
        view.sides.map((n, side) => n - sum(kids.map(k => k.sides[side])))});
    showTable(part, heap, {rows, sort: heap.isDiff ? 3 : 1, columns: [
      {title, functions: r => r.functions, text: undefined},
      ...heap.isDiff ? changeColumns(r => r.sides, METRICS[state.metric][0]) : [number(METRICS[state.metric][0], r => r.n), share(r => r.n, view.value)],
    ]}, null, null, link, () => {});
    for (const row of part.querySelectorAll("td.text:empty"))
      row.textContent = "itself";
    area.append(part);
  });
}

// The source of what is enlarged, or else of the function with most, with the
// numbers of its lines.
function showSource() {
  const zoom = numbersOf(state.zoom), area = $("source"), {metric} = state;
  const f = state.view === "kept" ? graph.top.fn :
    state.view === "function" || zoom.length === 0 ? chosenFunction() : zoom[zoom.length - 1];
  const lines = heap.linesOf(f, metric), index = heap.lineIndex[metric];
  area.hidden = lines.length === 0;
  if (area.hidden)
    return;
  area.replaceChildren(element("p", {}, "Lines of ", link(f),
    ` in ${lines[0].place.replace(/:\d+$/, "")}, each with its ${METRICS[metric][0]}:`), element("pre", {}, ...sourceRows(heap, lines, index)));
}

// What the box is, below the picture; without one, what is enlarged, or the whole.
function tell(box) {
  const all = graph.values.total[0], area = $("chosen");
  box ??= {branch: graph.top};
  if (box.branch.label !== undefined) {
    tellStep(area, box.branch, all);
    return;
  }
  if (box.branch.fn < 0) {
    area.textContent = `All: ${heap.isDiff ? inWords(state.metric, heap.whole(chosen())) :
      amount(shownMetric(), all)}.`;
    return;
  }
  const {branch} = box, group = heap.groups[branch.fn];
  const outer = branch.parent && branch.parent.fn >= 0 ? branch.parent : null;
  if (heap.isDiff) {
    area.replaceChildren(link(branch.fn), ` ${inWords(state.metric, branch.sides)}` +
      (group ? ` (${heap.data.groups[group - 1]})` : ""));
    return;
  }
  area.replaceChildren(link(branch.fn),
    ` ${amount(state.metric, branch.value)}, ${percent(branch.value, all)}` +
    (outer ? `; ${percent(branch.value, outer.value)} of what is shown for ` : ""),
    ...(outer ? [heap.names[outer.fn]] : []),
    ` (${KINDS[heap.kinds[branch.fn]]}${group ? `, ${heap.data.groups[group - 1]}` : ""})`);
}

function showTables(match) {
  $("table-names").replaceChildren(...tablesOf(heap).map(name =>
    element("button", {type: "button", "data-table": name, "aria-pressed": String(name === state.table),
      onclick: () => go({table: name, sort: ""}, true)}, tablesFor(heap)[name].title)));
  const what = chosen(), table = heap.remember(
    `table ${state.table} ${what.class} ${what.thread} ${what.metric}`,
    () => tablesFor(heap)[state.table].make(heap, what));
  const matches = match && (row => row.functions ?
    row.functions.some(f => match.byFunction[f]) : match.expression.test(row.text));
  $("table-note").textContent = table.note || "";
  showTable($("table"), heap, table, matches, state.sort === "" ? null : +state.sort, link,
    by => go({sort: String(by)}, true));
}

function render() {
  const last = state;
  state = readState();
  checkState();
  const groups = new Set(numbersOf(state.hide)), isNew = !last || last.heap !== state.heap;
  hiddenGroups = groups;
  if (isNew) {
    heap.hide(new Set());
    showSummary();
    showGroups();
  }
  if (isNew || last.hide !== state.hide)
    heap.hide(groups);
  $("hidden-count").textContent = groups.size ? ` (${groups.size} hidden)` : "";
  showControls();
  const values = heap.values(chosen()), match = findMatches();
  if (match)
    showMatched(match, values);
  showGraph(match, values);
  showTables(match);
  if (backTo !== undefined)
    scrollTo(0, backTo);
  else if (last && ["view", "fn", "zoom"].some(k => last[k] !== state[k]))
    showPicture();
  backTo = undefined;
  document.body.dataset.ready = String(1 + (+document.body.dataset.ready || 0));
}

// What changed may be out of sight: a link in a table was followed.
function showPicture() {
  const {top, bottom} = $("graph").getBoundingClientRect();
  const seen = Math.min(bottom, innerHeight) - Math.max(top, $("controls").offsetHeight);
  if (seen < Math.min(bottom - top, innerHeight / 2) / 2)
    $("graph-title").scrollIntoView();
}

// What the user does

function zoomOut() {
  const zoom = numbersOf(state.zoom);
  go({zoom: zoom.slice(0, -1).join(".")});
}

function enlarge(box) {
  if (state.view === "function" && box.row < graph.above)
    go({fn: String(box.branch.fn)});
  else
    go({zoom: graph.zoomTo(box).join(".")});
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey)
    return;
  const {key} = event, box = graph.chosen;
  if (key.startsWith("Arrow")) {
    const next = graph.next(key);
    if (next) {
      graph.choose(next);
      tell(next);
    }
  } else if (key === "Enter" && box) {
    enlarge(box);
  } else if (key === "Escape" || key === "Backspace") {
    zoomOut();
  } else if (key === "f" && box && box.branch.fn >= 0) {
    go({view: "function", fn: String(box.branch.fn), zoom: ""});
  } else {
    return;
  }
  event.preventDefault();
}

function listen() {
  for (const name of ["metric", "class", "thread"])
    $(name).addEventListener("change", event => go({[name]: event.target.value}));
  $("heap").addEventListener("change", event =>
    go({...DEFAULTS, search: state.search, heap: event.target.value}));
  $("controls").addEventListener("submit", event => event.preventDefault());
  let timer;
  $("search").addEventListener("input", event => {
    clearTimeout(timer);
    timer = setTimeout(() => go({search: event.target.value}, true), 150);
  });
  $("groups").addEventListener("change", () => go({zoom: "", hide:
    [...document.querySelectorAll("#groups input:checked")].map(b => b.value).join(".")}));
  for (const button of document.querySelectorAll("[data-view]"))
    button.addEventListener("click", () => go({view: button.dataset.view, zoom: "",
      fn: button.dataset.view === "function" && graph.chosen && graph.chosen.branch.fn >= 0 ?
        String(graph.chosen.branch.fn) : state.fn}));
  $("whole").addEventListener("click", () => go({zoom: ""}));
  $("filter").addEventListener("click", () => {
    const open = $("controls").classList.toggle("open");
    $("filter").setAttribute("aria-expanded", String(open));
  });
  listenToGraph($("graph"));
  listenToDocument();
  // Heads of tables stay below what is always there.
  new ResizeObserver(() => document.body.style.setProperty("--above",
    `${$("controls").offsetHeight}px`)).observe($("controls"));
}

function listenToGraph(area) {
  // A finger has nothing to point with: its first tap chooses, the second enlarges.
  let pointer = "mouse";
  area.addEventListener("pointerdown", event => { pointer = event.pointerType; });
  area.addEventListener("click", event => {
    const box = graph.at(event);
    if (!box)
      return;
    if (pointer !== "touch" || (graph.chosen && graph.chosen.branch === box.branch)) {
      enlarge(box);
      return;
    }
    graph.choose(box);
    tell(box);
    highlight(box.branch.fn >= 0 ? box.branch.fn : null);
  });
  area.addEventListener("mousemove", event => {
    const box = graph.at(event);
    area.style.cursor = box ? "pointer" : "";
    tell(box || graph.chosen);
    highlight(box && box.branch.fn >= 0 ? box.branch.fn : null);
    if (pointer !== "touch")
      showTip(event, box);
  });
  area.addEventListener("mouseleave", event => {
    showTip(event, null);
    highlight(null);
  });
  document.addEventListener("mouseover", event => {
    const a = event.target.closest && event.target.closest("a[data-fn]");
    if (!area.contains(event.target))
      highlight(a ? +a.dataset.fn : null);
  });
  area.addEventListener("keydown", onKey);
}

function listenToDocument() {
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      $("search").focus();
    }
  });
  // A link of a function keeps what is counted, unless it is in a sentence about something else.
  document.addEventListener("click", event => {
    const a = event.target.closest("a"), f = a?.dataset.fn;
    if (f === undefined || event.ctrlKey || event.metaKey || event.shiftKey)
      return a && keepPlace();
    event.preventDefault();
    return go({view: "function", fn: f, zoom: "", metric: a.dataset.metric ?? state.metric});
  });
  window.addEventListener("popstate", event => { backTo = event.state?.y; });
  window.addEventListener("hashchange", render);
  new ResizeObserver(() => showCurve()).observe($("curve"));
}

function begin() {
  setOptions($("heap"), page.heaps.map((h, i) => [String(i),
    `${h.heap === "c" ? "C" : "Lisp"}: ${h.command}, ` +
    `${h.processes ? `${h.processes} processes` : `process ${h.pid}`}, ${grouped(h.bytes)} bytes`]),
  readState().heap);
  $("heap-choice").hidden = heaps.length < 2;
  graph = new Graph($("graph"), $("canvas"), $("rows"));
  listen();
  render();
}

begin();
