// The page's data: packed columns opened, and what every part needs derived once.
const STATUSES = { b: "baseline", k: "keep", d: "discard", f: "checks_failed", x: "crash", m: "measured" };
const KEPT = "kb";

async function inflated(packed) {
  const bytes = Uint8Array.from(atob(packed.deflate), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

const opened = async (column) => (column && column.deflate ? JSON.parse(await inflated(column)) : column);

const pageData = () => JSON.parse(byId("data").textContent);

// A log's runs, row by row: what the log says, the segment's place, the change against its baseline, the best so far.
async function load(data) {
  const names = ["run", "line", "metric", "at", "commit", "description", "confidence"];
  const columns = await Promise.all(names.map((name) => opened(data.runs[name])));
  const runs = Object.fromEntries(names.map((name, place) => [name, columns[place]]));
  const count = data.runs.count;
  Object.assign(runs, {
    count,
    status: data.runs.status,
    exact: data.runs.exact,
    segment: new Int32Array(count),
    delta: new Array(count).fill(null),
    best: new Array(count).fill(null),
    isBest: new Set(),
  });
  data.segments.forEach((segment, place) => derive(runs, segment, place));
  return { ...data, runs };
}

function derive(runs, segment, place) {
  const { baseline, direction } = segment;
  let best = null;
  for (let row = segment.first; row < segment.end; row += 1) {
    const value = runs.metric[row];
    runs.segment[row] = place;
    if (baseline && runs.status[row] !== "x") {
      const change = ((value - baseline) / Math.abs(baseline)) * 100;
      runs.delta[row] = Number.isFinite(change) ? change : null;
    }
    if (direction && KEPT.includes(runs.status[row])) {
      if (best === null || (direction === "lower" ? value < best : value > best)) best = value;
    }
    runs.best[row] = best;
  }
  if (segment.best_row !== null) runs.isBest.add(segment.best_row);
}

const valueText = (runs, row) => (runs.status[row] === "x" ? NOTHING : runs.exact[row] || number(runs.metric[row]));

// What unfolds below a run, or null where this browser cannot open it.
async function detailsOf(data, row) {
  const size = 1000;
  const chunk = data.details[Math.floor(row / size)];
  if (chunk === undefined || chunk === null) return null;
  if (typeof chunk !== "string" && typeof DecompressionStream === "undefined") return null;
  const text = typeof chunk === "string" ? chunk : await inflated(chunk);
  return JSON.parse(text)[row % size] || {};
}
