// The distribution of improvements: a row a session, a stroke for each better run, as far right as it gained.
function strip(group) {
  const sessions = group.sessions.filter((one) => one.gains.length);
  if (!sessions.length) return [el("p", { class: "empty" }, "No run was better than the best before it.")];
  const box = el("div", {
    class: "plot",
    role: "img",
    "aria-label": `Gains in points of percent. ${sessions
      .slice(0, 40)
      .map((one) => `${one.name}: ${number(one.gains.length)}, largest ${signed(Math.max(...one.gains))}`)
      .join("; ")}.`,
  });
  const state = { all: false };
  const more = el(
    "button",
    {
      type: "button",
      class: "quiet",
      hidden: sessions.length <= 40,
      on: {
        click: () => {
          state.all = true;
          more.hidden = true;
          drawStrip(box, sessions, box.clientWidth);
        },
      },
    },
    `Show all ${number(sessions.length)}`,
  );
  whenSized(box, (width) => drawStrip(box, state.all ? sessions : sessions.slice(0, 40), width));
  return [box, more];
}

function drawStrip(box, sessions, width) {
  const row = 26;
  const height = sessions.length * row + 30;
  const left = Math.min(width * 0.35, 260);
  const { core } = focus(
    sessions.flatMap((one) => one.gains),
    [0],
  );
  const [, high] = padded(...core);
  const x = scale(0, high, left, width - 20);
  const picture = svg("svg", { width, height, "aria-hidden": "true" });
  for (const at of ticks(0, high, Math.max(2, (width - left) / 90))) {
    picture.append(
      svg("path", { class: at === 0 ? "axis" : "grid", d: `M${fixed(x(at))} 0V${height - 24}` }),
      svg("text", { class: "tick", x: fixed(x(at)), y: height - 8, "text-anchor": "middle" }, `${brief(at)}%`),
    );
  }
  sessions.forEach((one, place) => {
    const y = place * row + 4;
    const room = Math.max(4, Math.floor((left - 12) / 7.2));
    const shown = one.name.length > room ? `${one.name.slice(0, room - 1)}…` : one.name;
    picture.append(svg("text", { class: "tick label", x: left - 12, y: y + 13, "text-anchor": "end" }, shown));
    const strokes = one.gains.map((gain) => `M${fixed(Math.min(x(gain), width - 16))} ${y}v18`).join("");
    picture.append(svg("path", { class: "stroke", d: strokes }));
    const ordered = [...one.gains].sort((a, b) => a - b);
    const middle = ordered[Math.floor((ordered.length - 1) / 2)] / 2 + ordered[Math.ceil((ordered.length - 1) / 2)] / 2;
    picture.append(svg("circle", { class: "median", cx: fixed(Math.min(x(middle), width - 16)), cy: y + 9, r: 4 }));
  });
  box.replaceChildren(picture);
}
