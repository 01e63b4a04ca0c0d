// graph.js - chains drawn as boxes, each as wide as what it has.

const ROW = 18, LEAST = 0.5;
// Hue, saturation and lightness by kind: told apart by who sees no red, no green or
// no blue; by lightness alone as well.
const HUES = [[41, 90, 52], [54, 85, 68], [202, 77, 64], [0, 0, 74], [0, 0, 87]];
const fillOf = (kind, step = 0) => {
  const [hue, saturation, lightness] = HUES[kind];
  return `hsl(${hue} ${saturation}% ${lightness + step}%)`;
};
const DARK = matchMedia("(prefers-color-scheme: dark)");
const MATCH = "#d582b4";

class Graph {
  constructor(area, canvas, rows) {
    Object.assign(this, {area, canvas, rows, boxes: [], chosen: null, same: null, above: 0});
    area.addEventListener("scroll", () => this.draw());
    DARK.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.layout()).observe(area);
  }

  // Afterwards `top` is the branch that is enlarged: as wide as the picture.  VIEWS
  // are the roots: one, or what calls a function and what it calls; ZOOM is
  // a list of functions from the root on.
  show(heap, values, views, zoom, match) {
    Object.assign(this, {heap, values, views, zoom, match});
    this.chosen = null;
    this.layout();
    if (this.above > 0)
      this.area.scrollTop = Math.max(0, this.above * ROW - this.area.clientHeight / 2);
  }

  kids(branch) {
    return branch.kids(this.values.total);
  }

  // The branches from ROOT down to the one that is enlarged.
  path(root) {
    const path = [root];
    for (const f of this.zoom) {
      const kid = this.kids(path[path.length - 1]).find(k => k.key === f);
      if (!kid)
        break;
      path.push(kid);
    }
    return path;
  }

  layout() {
    if (!this.views)
      return;
    this.width = this.area.clientWidth;
    this.boxes = [];
    this.above = 0;
    if (this.views.length > 1) {
      this.place(this.views[0], 0, true);
      this.above = Math.max(0, ...this.boxes.map(b => b.row));
      for (const box of this.boxes)
        box.row = this.above - box.row;
      this.boxes.shift(); // the function, which is drawn below
    }
    this.place(this.views[this.views.length - 1], this.above, false);
    const deepest = this.boxes.reduce((d, b) => Math.max(d, b.row), 0);
    this.rows.style.height = "0";
    const height = (deepest + 1) * ROW;
    this.area.style.height = `${Math.max(height, 3 * ROW) + 2}px`;
    this.height = this.area.clientHeight;
    this.rows.style.height = `${Math.max(0, height - this.height)}px`;
    this.draw();
  }

  place(root, row, upwards) {
    const path = upwards ? [root] : this.path(root), top = path[path.length - 1];
    for (const branch of path.slice(0, -1))
      this.boxes.push({branch, x: 0, w: this.width, row: row++, isAbove: true});
    if (!upwards)
      this.top = top;
    const boxes = [{branch: top, x: 0, w: this.width, row}];
    for (let box; (box = boxes.pop());) {
      this.boxes.push(box);
      const scale = box.w / box.branch.value;
      let x = box.x;
      for (const branch of box.w >= LEAST && box.branch.value > 0 ? this.kids(box.branch) : []) {
        const w = branch.value * scale;
        if (w < LEAST)
          break; // the others have less
        boxes.push({branch, x, w, row: box.row + 1});
        x += w;
      }
    }
  }

  name(branch) {
    return branch.label ?? (branch.fn < 0 ? "all" : this.heap.names[branch.fn]);
  }

  matches({label, fn}) {
    return label === undefined ? fn < 0 ? null : this.match.byFunction[fn] :
      this.match.expression.test(label);
  }

  fill(branch) {
    if (this.match && this.matches(branch))
      return MATCH;
    if (this.heap.isDiff)
      return changeColour(branch.sides);
    // Neighbours differ a little.
    return branch.fn < 0 ? fillOf(4) :
      fillOf(this.heap.kinds[branch.fn], branch.fn * 2654435761 % 4294967296 % 7 - 3);
  }

  draw() {
    if (!this.views)
      return;
    const {canvas, width, height} = this, scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const c = canvas.getContext("2d"), top = this.area.scrollTop;
    c.scale(scale, scale);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    this.drawn = 0;
    for (const box of this.boxes) {
      const y = box.row * ROW - top;
      if (y < -ROW || y > height)
        continue;
      this.drawBox(c, box, y);
      this.drawn++;
    }
    this.area.dataset.drawn = this.drawn;
    this.area.dataset.boxes = this.boxes.length;
  }

  drawBox(c, box, y) {
    const {branch, x, w} = box;
    c.globalAlpha = box.isAbove ? 0.55 :
      this.match && this.matches(branch) === false ? 0.6 : 1;
    c.fillStyle = this.fill(branch);
    c.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.5), ROW - 1);
    const isDim = c.globalAlpha < 1 && DARK.matches;
    c.globalAlpha = 1;
    if (this.chosen && box.branch === this.chosen.branch) {
      c.strokeStyle = "#d0006f";
      c.lineWidth = 2;
      c.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
    }
    if (this.same !== null && branch.fn === this.same) {
      c.strokeStyle = isDim ? "#fff" : "#111";
      c.lineWidth = 1;
      c.strokeRect(x + 0.5, y + 0.5, Math.max(w - 2, 1), ROW - 2);
    }
    if (w < 28)
      return;
    c.fillStyle = isDim ? "#eee" : "#111";
    const mark = this.heap.isDiff ? changeMark(branch.sides) : "";
    c.fillText(mark + fitted(c, this.name(branch), w - 8 - c.measureText(mark).width),
      x + 4, y + ROW / 2);
  }

  at(event) {
    const area = this.canvas.getBoundingClientRect();
    const x = event.clientX - area.left;
    const row = Math.floor((event.clientY - area.top + this.area.scrollTop) / ROW);
    return this.boxes.find(b => b.row === row && x >= b.x && x < b.x + b.w) || null;
  }

  choose(box) {
    this.chosen = box;
    if (box) {
      const y = box.row * ROW;
      if (y < this.area.scrollTop)
        this.area.scrollTop = y;
      else if (y + ROW > this.area.scrollTop + this.height)
        this.area.scrollTop = y + ROW - this.height;
    }
    this.draw();
  }

  // The box that an arrow key leads to from the chosen one.
  next(key) {
    const from = this.chosen;
    if (!from)
      return this.boxes.find(b => !b.isAbove && b.row >= this.above) || null;
    const isCaller = from.row < this.above;
    const inward = isCaller ? "ArrowUp" : "ArrowDown";
    if (key === inward)
      return this.boxes.find(b => b.branch.parent === from.branch) || from;
    if (key === "ArrowUp" || key === "ArrowDown")
      return this.outer(from, isCaller) || this.boxes.find(b => b.row < from.row && !from.branch.parent) || from;
    const row = this.boxes.filter(b => b.row === from.row).sort((a, b) => a.x - b.x);
    const k = row.findIndex(b => b.branch === from.branch) + (key === "ArrowLeft" ? -1 : 1);
    return row[k] || from;
  }

  outer(box, isCaller) {
    const {parent} = box.branch;
    if (isCaller && parent === this.views[0])
      return this.boxes.find(b => b.branch === this.views[1]);
    return this.boxes.find(b => b.branch === parent);
  }

  // The functions from the root to BOX, which enlarge it.
  zoomTo(box) {
    const path = [];
    for (let b = box.branch; b.parent; b = b.parent)
      path.unshift(b.key);
    return path;
  }
}

// As much of TEXT as fits, without the package if that does not.
function fitted(c, text, width) {
  if (text.length > 400)
    text = `${text.slice(0, 400)}…`;
  if (c.measureText(text).width <= width)
    return text;
  text = text.replace(/^[^\s:(]+::?(?=.)/, "");
  if (c.measureText(text).width <= width)
    return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (c.measureText(`${text.slice(0, middle)}…`).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

// The roots of each view of the page's heap.
const VIEWS = {
  top: values => [topView(heap, values)],
  inverted: values => [invertedView(heap, values)],
  function: values => {
    const f = chosenFunction();
    return f < 0 ? [topView(heap, values)] :
      [functionView(heap, values, f, true), functionView(heap, values, f, false)];
  },
  kept: () => [keptView(heap)],
};

// What the picture counts.
const shownMetric = () => state.view === "kept" ? "bytes" : state.metric;
