// The picture of a metric's runs: scales, noise, baseline and target, the best so far, and the marks over them.
function drawTrajectory(view, width) {
  const { model, segments, rows, range } = view;
  const height = width < 500 ? 260 : 340;
  const crashed = rows.some((row) => model.runs.status[row] === "x");
  const lane = crashed ? 26 : 0;
  const box = { top: 22, right: 22, bottom: 34 + lane, left: 14 };
  const [low, high] = range ? padded(...(view.whole ? range.whole : range.core)) : [0, 1];
  const marks = range ? ticks(low, high, 6) : [];
  box.left = 14 + Math.max(36, ...marks.map((value) => brief(value).length * 7.2));
  const floor = height - box.bottom;
  const gap = Math.min(40, (width - box.left - box.right) / Math.max(rows.length, 1) / 2);
  const x = scale(0, Math.max(rows.length - 1, 1), box.left + gap, width - box.right - gap);
  const centred = rows.length > 1 ? x : () => (box.left + width - box.right) / 2;
  const y = scale(low, high, floor, box.top);
  const held = (value) => Math.max(box.top - 4, Math.min(floor + 4, y(value)));
  const points = rows.map((row, place) => [
    model.runs.status[row],
    centred(place),
    model.runs.status[row] === "x" ? floor + 20 : held(model.runs.metric[row]),
  ]);
  const picture = svg("svg", { width, height, "aria-hidden": "true" });
  for (const value of marks) {
    picture.append(
      svg("path", { class: "grid", d: `M${box.left} ${fix(y(value))}H${width - box.right}` }),
      svg("text", { class: "tick", x: box.left - 8, y: fix(y(value)) + 4, "text-anchor": "end" }, brief(value)),
    );
  }
  segments.forEach((one, place) =>
    drawSegment(picture, view, one, place, { x: centred, y, held, box, floor, width, gap }),
  );
  drawRunTicks(picture, view, { x: centred, width, box, height });
  if (crashed)
    picture.append(svg("text", { class: "tick", x: box.left - 8, y: floor + 24, "text-anchor": "end" }, "crash"));
  const r = radius(rows.length);
  picture.append(...paths(points, r));
  rows.forEach((row, place) => {
    if (model.runs.isBest.has(row))
      picture.append(
        svg("circle", { class: "winner", cx: fix(points[place][1]), cy: fix(points[place][2]), r: r + 3.5 }),
      );
  });
  const cursor = svg(
    "g",
    { class: "cursor", visibility: "hidden" },
    svg("path", { d: "" }),
    svg("circle", { r: r + 3 }),
  );
  picture.append(cursor);
  view.drawn = { points, cursor, box, floor };
  if (view.picture) view.picture.remove();
  view.picture = picture;
  view.plot.prepend(picture);
  view.tip.hide();
}

function drawSegment(picture, view, one, place, at) {
  const { model, rows } = view;
  const start = rows.indexOf(one.first);
  const end = start + one.end - one.first - 1;
  const [left, right] = [
    Math.max(at.x(start) - at.gap, at.box.left),
    Math.min(at.x(end) + at.gap, at.width - at.box.right),
  ];
  const inside = (value) =>
    value >= -Number.MAX_VALUE && at.held(value) > at.box.top - 4 && at.held(value) < at.floor + 4;
  if (one.mad) {
    const [top, bottom] = [at.held(one.centre + one.mad), at.held(one.centre - one.mad)].sort((a, b) => a - b);
    picture.append(
      svg("rect", {
        class: "band",
        x: fix(left),
        y: fix(top),
        width: fix(right - left),
        height: fix(Math.max(bottom - top, 1)),
      }),
    );
  }
  if (one.baseline !== null && inside(one.baseline))
    picture.append(svg("path", { class: "baseline", d: `M${fix(left)} ${fix(at.y(one.baseline))}H${fix(right)}` }));
  if (one.target !== null && inside(one.target))
    picture.append(svg("path", { class: "target", d: `M${fix(left)} ${fix(at.y(one.target))}H${fix(right)}` }));
  if (place > 0) picture.append(svg("path", { class: "divider", d: `M${fix(left)} ${at.box.top - 16}V${at.floor}` }));
  if (view.segments.length > 1 && right - left > 76)
    picture.append(svg("text", { class: "tick", x: fix(left) + 6, y: 12 }, `segment ${one.ordinal}`));
  let line = "";
  for (let row = one.first, before = null; row < one.end; row += 1) {
    const best = model.runs.best[row];
    if (best !== null && best !== before) {
      const [px, py] = [fix(at.x(start + row - one.first)), fix(at.held(best))];
      line += line ? `H${px}V${py}` : `M${px} ${py}`;
      before = best;
    }
  }
  if (line) picture.append(svg("path", { class: "best", d: `${line}H${fix(right)}` }));
}

function drawRunTicks(picture, view, { x, width, box, height }) {
  const { model, rows } = view;
  const every = Math.max(1, ticks(0, rows.length, width / 90)[1] || 1);
  for (let place = every - 1; place < rows.length; place += every) {
    picture.append(
      svg(
        "text",
        { class: "tick", x: fix(x(place)), y: height - 8, "text-anchor": "middle" },
        String(model.runs.run[rows[place]]),
      ),
    );
  }
  picture.append(svg("text", { class: "tick", x: box.left - 8, y: height - 8, "text-anchor": "end" }, "run"));
}
