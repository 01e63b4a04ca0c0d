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

// Bytes in units of 1000, with the exact number on hover.
function units(bytes) {
  const names = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes, unit = 0;
  for (; value >= 999.5 && unit < names.length - 1; unit++)
    value /= 1000;
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return element("span", {title: `${grouped(bytes)} bytes`, class: "units"},
    `${value.toFixed(digits)} ${names[unit]}`);
}

const counted = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

// A sentence is a list of texts, elements, and pairs of a function and its name.
function summarize(heap) {
  const d = heap.data, [time, peakBytes, peakObjects] = d.peak;
  const sentence = ["Allocated ", units(d.bytes), ` in ${counted(d.allocs, heap.isLisp ?
    "block" : "call")}, in ${seconds(d.duration)}` +
    `${d.processes ? ` of ${grouped(d.processes)} processes` : ""}.`];
  if (!heap.isLisp && peakBytes)
    sentence.push(d.processes ? "  Peaks of the processes, added up: " : "  Peak ",
      units(peakBytes), ` in ${counted(peakObjects, "object")}` +
      `${d.processes ? "" : `, after ${seconds(time)}`}.`);
  for (const [metric, text] of [["kept", "  Not freed "], ["alive", "  Live "]])
    if (heap.metrics.includes(metric))
      sentence.push(text, units(heap.values(everything(metric)).total[0]), ".");
  return [sentence, ...d.sentences, ...[estimated(heap), missing(heap)].filter(s => s)];
}

function estimated(heap) {
  const n = heap.data.sampling;
  return n > 0 ? [`All numbers are estimated, from one byte in ${grouped(n)}: the standard ` +
    `error of b bytes is at most the square root of ${grouped(n)} b.`] : null;
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

// The metric of HEAP that SENTENCE is about, so that its links count the same; or null.
function metricOf(sentence, heap) {
  const found = Object.entries({peak: " at the peak", kept: " unfreed bytes", alive: " live bytes"})
    .find(([, text]) => sentence.some(part => typeof part === "string" && part.includes(text)));
  return found && heap.metrics.includes(found[0]) ? found[0] : null;
}
