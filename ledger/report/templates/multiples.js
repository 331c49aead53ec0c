// Secondary metrics, a small drawing each, all over the same runs; a band shows lowest to highest where runs are many.
const FIRST_MULTIPLES = 24;

function multiples(model, all, showAll) {
  const { series } = model.secondary;
  const shown = all ? series : series.slice(0, FIRST_MULTIPLES);
  const list = el(
    "ul",
    { class: "multiples" },
    ...shown.map((one) =>
      el("li", {}, el("h3", { dir: "auto", title: one.name }, one.name), small(model, one), el("p", {}, one.last)),
    ),
  );
  if (shown.length === series.length) return [list];
  return [
    list,
    el("button", { type: "button", class: "quiet", on: { click: showAll } }, `Show all ${number(series.length)}`),
  ];
}

function small(model, one) {
  const [width, height] = [200, 48];
  const high = one.high || one.low;
  const x = scale(0, Math.max(model.runs.count - 1, 1), 4, width - 4);
  const [bottom, top] = padded(Math.min(...one.low), Math.max(...high), 0.05);
  const y = scale(bottom, top, height - 2, 2);
  const places = one.at.map((place) => fix(x(Math.min(place * one.width + (one.width - 1) / 2, model.runs.count - 1))));
  const line = (values) => values.map((value, step) => `${places[step]} ${fix(y(value))}`);
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": one.text,
  });
  for (const segment of model.segments.slice(1)) {
    if (segment.end > segment.first && model.segments.length < 60)
      picture.append(svg("path", { class: "divider", d: `M${fix(x(segment.first - 0.5))} 0V${height}` }));
  }
  if (one.high)
    picture.append(
      svg("path", { class: "spread", d: `M${[...line(one.high), ...line(one.low).reverse()].join("L")}Z` }),
    );
  const middle = one.low.map((value, step) => value / 2 + high[step] / 2);
  picture.append(
    places.length > 1
      ? svg("path", { class: "series", d: `M${line(middle).join("L")}` })
      : svg("path", { class: "series lone", d: `M${places[0] - 2} ${fix(y(middle[0]))}h4` }),
  );
  return picture;
}
