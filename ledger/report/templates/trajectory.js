// The chart of one metric: every run a mark, the best so far a step line, segments, noise and target behind them.
const chosenSegments = new Map(); // by metric: the one segment that the reader looks at

function trajectory(model, chart, isOnly) {
  const every = chart.segments.map((ordinal) => model.segments.find((one) => one.ordinal === ordinal));
  const { metric, unit } = every[every.length - 1];
  const title = metric + (unit ? ` in ${unit}` : "");
  const segments = every.filter((one) => !chosenSegments.has(title) || one.ordinal === chosenSegments.get(title));
  const rows = segments.flatMap((one) => Array.from({ length: one.end - one.first }, (_, step) => one.first + step));
  const plot = el("div", {
    class: "plot",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `${chart.text} Left and right step through the runs, Home and End go to the first and the last, Enter opens one in the table.`,
  });
  const tip = makeTip(plot);
  const fit = el("button", { type: "button", class: "quiet", "aria-pressed": "false", hidden: true }, "Fit every run");
  const view = { model, segments, rows, plot, tip, whole: false, drawn: null };
  const figure = el(
    "figure",
    { class: "chart" },
    el(
      "figcaption",
      {},
      el(isOnly ? "span" : "h3", { class: "title", dir: "auto" }, title),
      every.length > 1 ? chooser() : null,
      fit,
    ),
    plot,
    legend(view),
    el("p", { class: "hidden" }, chart.text),
  );
  function chooser() {
    const select = el(
      "select",
      {
        "aria-label": `Segments of ${title}`,
        on: {
          change: () => {
            if (select.value === "") chosenSegments.delete(title);
            else chosenSegments.set(title, Number(select.value));
            const next = trajectory(model, chart, isOnly);
            figure.replaceWith(next);
            next.querySelector("select").focus();
          },
        },
      },
      el("option", { value: "" }, "all segments"),
      ...every.map((one) =>
        el(
          "option",
          { value: one.ordinal, selected: one.ordinal === chosenSegments.get(title) },
          `segment ${one.ordinal}`,
        ),
      ),
    );
    return select;
  }
  const values = rows.filter((row) => model.runs.status[row] !== "x").map((row) => model.runs.metric[row]);
  const wanted = segments
    .flatMap((one) => [
      one.target,
      ...[one.baseline_row, one.best_row].map((row) => (row === null ? null : model.runs.metric[row])),
    ])
    .filter((value) => value !== null);
  view.range = values.length ? focus(values, wanted) : null;
  fit.hidden = !(view.range && view.range.clipped);
  fit.addEventListener("click", () => {
    view.whole = !view.whole;
    fit.setAttribute("aria-pressed", String(view.whole));
    drawTrajectory(view, plot.clientWidth);
  });
  listen(view);
  whenSized(plot, (width) => drawTrajectory(view, width));
  return figure;
}

function legend(view) {
  const { model, segments, rows } = view;
  const present = new Set(rows.map((row) => model.runs.status[row]));
  const line = (name) =>
    svg(
      "svg",
      { class: "mark", width: 22, height: 16, viewBox: "0 0 22 16", "aria-hidden": "true" },
      name === "band"
        ? svg("rect", { class: name, y: 3, width: 22, height: 10 })
        : svg("path", { class: name, d: "M0 8H22" }),
    );
  const items = [...ORDER]
    .reverse()
    .filter((letter) => present.has(letter))
    .map((letter) => [mark(letter), STATUSES[letter]]);
  if (segments.some((one) => one.best_row !== null)) items.push([line("best"), "best so far"]);
  if (segments.some((one) => one.baseline !== null)) items.push([line("baseline"), "baseline"]);
  if (segments.some((one) => one.mad)) items.push([line("band"), "median ± MAD"]);
  if (segments.some((one) => one.target !== null)) items.push([line("target"), "target"]);
  return el("ul", { class: "legend" }, ...items.map(([sign, name]) => el("li", {}, sign, name)));
}

function listen(view) {
  const { plot, rows, model } = view;
  let place = -1;
  const go = (to) => {
    if (!rows.length || !view.drawn) return;
    place = Math.max(0, Math.min(rows.length - 1, to));
    showPoint(view, place);
  };
  const hide = () => {
    view.tip.hide();
    if (view.drawn) view.drawn.cursor.setAttribute("visibility", "hidden");
  };
  plot.addEventListener("pointermove", (event) => {
    if (view.drawn && event.target.closest(".tip") === null)
      go(
        nearest(
          view,
          event.clientX - plot.getBoundingClientRect().left,
          event.clientY - plot.getBoundingClientRect().top,
        ),
      );
  });
  plot.addEventListener("pointerleave", () => {
    if (document.activeElement !== plot) hide();
  });
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (event.key in steps) go(place < 0 ? (steps[event.key] > 0 ? 0 : rows.length - 1) : place + steps[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1);
    else if (event.key === "Escape") hide();
    else if (event.key === "Enter" && place >= 0) goTo(model.runs.line[rows[place]]);
    else return;
    event.preventDefault();
  });
  plot.addEventListener("dblclick", () => {
    if (place >= 0) goTo(model.runs.line[rows[place]]);
  });
}

// The run whose mark is nearest: points lie in the order of x, so those around the pointer are enough.
function nearest(view, px, py) {
  const { points } = view.drawn;
  let low = 0;
  let high = points.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][1] < px - 12) low = middle + 1;
    else high = middle;
  }
  let found = low;
  let least = Infinity;
  for (
    let place = Math.max(0, low - 1);
    (place < points.length && points[place][1] < px + 12) || place === low;
    place += 1
  ) {
    const far = (points[place][1] - px) ** 2 * 4 + (points[place][2] - py) ** 2;
    if (far < least) [found, least] = [place, far];
  }
  return found;
}

function showPoint(view, place) {
  const { model, rows, drawn } = view;
  const row = rows[place];
  const [, x, y] = drawn.points[place];
  const { runs } = model;
  const segment = model.segments[runs.segment[row]];
  const [line, ring] = drawn.cursor.children;
  line.setAttribute("d", `M${fix(x)} ${drawn.box.top}V${drawn.floor}`);
  ring.setAttribute("cx", fix(x));
  ring.setAttribute("cy", fix(y));
  drawn.cursor.setAttribute("visibility", "visible");
  const unit = segment.unit && runs.status[row] !== "x" ? ` ${segment.unit}` : "";
  const change = runs.delta[row] === null ? "" : ` (${signed(runs.delta[row])})`;
  view.tip.show(
    [
      `Run ${runs.run[row]}: ${STATUSES[runs.status[row]]}${runs.isBest.has(row) ? ", best" : ""}`,
      `${valueText(runs, row)}${unit}${change}`,
      runs.description[row],
    ],
    x,
    y,
  );
}

const goTo = (line) => {
  if (location.hash === `#line-${line}`) dispatchEvent(new HashChangeEvent("hashchange"));
  else location.hash = `line-${line}`;
};
