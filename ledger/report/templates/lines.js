// Trajectories of sessions on one scale: improvement in percent, by run and by hour, a step line a session.
const DRAWN = 12; // sessions with a line of their own colour and dashes; the others stay in the background

function lines(group) {
  const sessions = group.sessions.filter((one) => one.legs.length);
  if (!sessions.length)
    return [
      el("p", { class: "empty" }, "No session has a baseline that a percentage can be taken of, and a kept run."),
    ];
  const state = { pinned: null, views: [] };
  const timed = sessions.some((one) => one.legs.some((leg) => leg.hours.some((at) => at !== null && at > 0)));
  const plots = [linePlot(state, sessions, group, "runs", "run")];
  if (timed) plots.push(linePlot(state, sessions, group, "hours", "hours"));
  return [el("div", { class: "pair" }, ...plots), lineLegend(state, sessions)];
}

function lineLegend(state, sessions) {
  const light = (place) => {
    for (const view of state.views)
      for (const [at, path] of view.paths.entries()) path.classList.toggle("dim", place !== null && at !== place);
  };
  const items = sessions.slice(0, DRAWN).map((one, place) => {
    const button = el(
      "button",
      {
        type: "button",
        class: "key",
        "aria-pressed": "false",
        on: {
          pointerenter: () => light(place),
          focus: () => light(place),
          pointerleave: () => light(state.pinned),
          blur: () => light(state.pinned),
          click: () => {
            state.pinned = state.pinned === place ? null : place;
            for (const other of list.querySelectorAll(".key"))
              other.setAttribute("aria-pressed", String(other === button && state.pinned !== null));
            light(state.pinned);
          },
        },
      },
      svg(
        "svg",
        { class: "mark", width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" },
        svg("path", { class: `line l-${place}`, d: "M0 6H26" }),
      ),
      el("bdi", {}, `${one.rank === null ? "" : `${one.rank}. `}${one.name}`),
    );
    return el("li", {}, button);
  });
  const list = el("ul", { class: "legend" }, ...items);
  if (sessions.length > DRAWN)
    list.append(el("li", {}, `and ${number(sessions.length - DRAWN)} more in the background`));
  return list;
}

function linePlot(state, sessions, group, key, label) {
  const plot = el("div", {
    class: "plot",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `Improvement by ${label}: ${group.text} Up and down choose a session, left and right step through its improvements.`,
  });
  const view = { plot, tip: makeTip(plot), sessions, key, label, paths: [], drawn: null };
  state.views.push(view);
  listenLines(view);
  whenSized(plot, (width) => drawLines(view, width));
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, el("span", { class: "title" }, `Improvement in % by ${label}`)),
    plot,
  );
}

function drawLines(view, width) {
  const { sessions, key } = view;
  const height = width < 420 ? 240 : 300;
  const legs = sessions.flatMap((one) => one.legs);
  const { core, clipped } = focus(
    legs.flatMap((leg) => leg.percent),
    [0],
  );
  const [low, high] = padded(...core);
  const marks = ticks(low, high, 5);
  const box = {
    top: 10,
    right: 14,
    bottom: 32,
    left: 16 + Math.max(24, ...marks.map((value) => brief(value).length * 7.2)),
  };
  const floor = height - box.bottom;
  const known = legs.flatMap((leg) => leg[key]).filter((at) => at !== null);
  const least = Math.min(0, ...[minimum(known)]);
  const most = Math.max(...[maximum(known)], least + (key === "runs" ? 1 : 0.1));
  const x = scale(least, most, box.left, width - box.right);
  const y = scale(low, high, floor, box.top);
  const held = (value) => Math.max(box.top - 2, Math.min(floor + 2, y(value)));
  const picture = svg("svg", { width, height, "aria-hidden": "true" });
  for (const value of marks) {
    picture.append(
      svg("path", { class: value === 0 ? "axis" : "grid", d: `M${box.left} ${fixed(y(value))}H${width - box.right}` }),
      svg("text", { class: "tick", x: box.left - 8, y: fixed(y(value)) + 4, "text-anchor": "end" }, brief(value)),
    );
  }
  for (const at of ticks(least, most, Math.max(2, width / 90))) {
    picture.append(svg("text", { class: "tick", x: fixed(x(at)), y: height - 8, "text-anchor": "middle" }, brief(at)));
  }
  const points = sessions.map((one) =>
    one.legs
      .flatMap((leg) =>
        leg.percent.map((value, step) => ({ at: leg[key][step], value, run: leg.runs[step], hours: leg.hours[step] })),
      )
      .filter((point) => point.at !== null)
      .map((point) => ({ ...point, x: x(point.at), y: held(point.value) })),
  );
  view.paths = sessions.map((one, place) =>
    svg("path", {
      class: place < DRAWN ? `line l-${place}` : "line rest",
      d: one.legs.map((leg) => stepsOf(leg, key, x, held)).join(""),
    }),
  );
  picture.append(...[...view.paths].reverse());
  if (clipped)
    picture.append(
      svg(
        "text",
        { class: "tick", x: width - box.right, y: floor - 8, "text-anchor": "end" },
        "values past the scale are drawn at its edge",
      ),
    );
  const cursor = svg("g", { class: "cursor", visibility: "hidden" }, svg("circle", { r: 5 }));
  picture.append(cursor);
  view.drawn = { points, cursor };
  if (view.picture) view.picture.remove();
  view.picture = picture;
  view.plot.prepend(picture);
  view.tip.hide();
}

const fixed = (value) => Math.round(value * 10) / 10;
const minimum = (values) => values.reduce((least, value) => (value < least ? value : least), Infinity);
const maximum = (values) => values.reduce((most, value) => (value > most ? value : most), -Infinity);

function stepsOf(leg, key, x, y) {
  let line = "";
  leg[key].forEach((at, step) => {
    if (at === null) return;
    const [px, py] = [fixed(x(at)), fixed(y(leg.percent[step]))];
    line += line ? `H${px}V${py}` : `M${px} ${py}`;
  });
  return line;
}

function listenLines(view) {
  const { plot, sessions } = view;
  let [session, step] = [0, -1];
  const go = () => {
    const points = view.drawn.points[session];
    if (!points || !points.length) return;
    step = Math.max(0, Math.min(points.length - 1, step));
    const point = points[step];
    view.drawn.cursor.firstChild.setAttribute("cx", fixed(point.x));
    view.drawn.cursor.firstChild.setAttribute("cy", fixed(point.y));
    view.drawn.cursor.setAttribute("visibility", "visible");
    const when = point.hours === null ? "" : `, after ${point.hours.toFixed(1)} h`;
    view.tip.show(
      [sessions[session].name, `${signed(point.value)} at run ${number(point.run)}${when}`],
      point.x,
      point.y,
    );
  };
  const hide = () => {
    view.tip.hide();
    if (view.drawn) view.drawn.cursor.setAttribute("visibility", "hidden");
  };
  plot.addEventListener("pointermove", (event) => {
    const frame = plot.getBoundingClientRect();
    let least = Infinity;
    view.drawn.points.forEach((points, one) =>
      points.forEach((point, at) => {
        const far = (point.x - event.clientX + frame.left) ** 2 + (point.y - event.clientY + frame.top) ** 2;
        if (far < least) [least, session, step] = [far, one, at];
      }),
    );
    if (least < 60 ** 2) go();
    else hide();
  });
  plot.addEventListener("pointerleave", hide);
  plot.addEventListener("blur", hide);
  plot.addEventListener("keydown", (event) => {
    const last = view.drawn.points[session].length - 1;
    if (event.key === "ArrowRight") step += 1;
    else if (event.key === "ArrowLeft") step = step < 0 ? last : step - 1;
    else if (event.key === "Home") step = 0;
    else if (event.key === "End") step = last;
    else if (event.key === "ArrowDown")
      [session, step] = [Math.min(sessions.length - 1, session + (step < 0 ? 0 : 1)), Math.max(step, 0)];
    else if (event.key === "ArrowUp") [session, step] = [Math.max(0, session - 1), Math.max(step, 0)];
    else if (event.key === "Escape") {
      hide();
      return;
    } else return;
    event.preventDefault();
    go();
  });
}
