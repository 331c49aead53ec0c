// A mark a status, told apart by shape first and colour second.
const SHAPES = {
  k: (x, y, r) => circle(x, y, r),
  b: (x, y, r) =>
    polygon([
      [x, y - r * 1.35],
      [x + r * 1.35, y],
      [x, y + r * 1.35],
      [x - r * 1.35, y],
    ]),
  d: (x, y, r) => circle(x, y, r * 0.85),
  f: (x, y, r) =>
    polygon([
      [x, y - r * 1.2],
      [x + r * 1.1, y + r * 0.85],
      [x - r * 1.1, y + r * 0.85],
    ]),
  x: (x, y, r) =>
    `M${fix(x - r)} ${fix(y - r)}L${fix(x + r)} ${fix(y + r)}M${fix(x + r)} ${fix(y - r)}L${fix(x - r)} ${fix(y + r)}`,
  m: (x, y, r) =>
    polygon([
      [x - r, y - r],
      [x + r, y - r],
      [x + r, y + r],
      [x - r, y + r],
    ]),
};
const ORDER = "dmfxbk"; // kept runs are painted last, over the others

const fix = (value) => Math.round(value * 10) / 10;
const polygon = (points) => `M${points.map(([x, y]) => `${fix(x)} ${fix(y)}`).join("L")}Z`;
function circle(x, y, r) {
  const wide = fix(2 * r);
  return `M${fix(x - r)} ${fix(y)}a${fix(r)} ${fix(r)} 0 1 0 ${wide} 0a${fix(r)} ${fix(r)} 0 1 0 ${-wide} 0Z`;
}

const mark = (letter, size = 16) =>
  svg(
    "svg",
    { class: "mark", width: size, height: size, viewBox: "-8 -8 16 16", "aria-hidden": "true" },
    svg("path", { class: `point s-${letter}`, d: SHAPES[letter](0, 0, 4.5) }),
  );

const radius = (count) => (count < 80 ? 4.5 : count < 400 ? 3.5 : count < 2000 ? 2.5 : 1.8);

// One path a status; of points that would fall on one another one is drawn.
function paths(points, r) {
  const parts = {};
  const taken = new Set();
  for (const [letter, x, y] of points) {
    if (points.length > 4000) {
      const spot = `${letter}${Math.round(x * 1.5)},${Math.round(y * 1.5)}`;
      if (taken.has(spot)) continue;
      taken.add(spot);
    }
    (parts[letter] = parts[letter] || []).push(SHAPES[letter](x, y, r));
  }
  return [...ORDER]
    .filter((letter) => parts[letter])
    .map((letter) => svg("path", { class: `point s-${letter}`, d: parts[letter].join("") }));
}
