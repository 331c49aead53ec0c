// The table of sessions: sorted and filtered; what the reader chose outlives new data.
themeButton();
const COURSE = [64, 20];
const table = document.querySelector("#sessions table");
const chosen = { data: pageData(), sort: null, down: false, find: "" };

function heads() {
  table.tHead.rows[0].replaceChildren(
    el("th", { scope: "col" }, el("span", { class: "hidden" }, "Mark")),
    el("th", { scope: "col" }, "Course"),
    ...chosen.data.columns.map((column) =>
      el(
        "th",
        { scope: "col", class: column.kind, "data-key": column.key },
        el("button", { type: "button", on: { click: () => sortBy(column.key) } }, column.label),
      ),
    ),
  );
}

// The first click on a column sorts up, the second down, the third as it came: the latest run first.
function sortBy(key) {
  [chosen.sort, chosen.down] =
    chosen.sort !== key ? [key, false] : chosen.down ? [null, false] : [key, true];
  drawSessions();
}

function picked() {
  const words = ["session", "log", "state"];
  const found = chosen.data.sessions.filter((one) =>
    words.some((key) => one.cells[key].text.toLowerCase().includes(chosen.find)),
  );
  if (!chosen.sort) return found;
  const way = chosen.down ? -1 : 1;
  const value = (one) => one.cells[chosen.sort].by;
  return found.sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a === null || b === null) return (a === null) - (b === null);
    return a === b ? 0 : a < b ? -way : way;
  });
}

function course(points) {
  const [width, height] = COURSE;
  const place = ([x, y]) => [fix(2 + (x / 100) * (width - 4)), fix(height - 3 - (y / 100) * (height - 6))];
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  if (!points.length) return picture;
  const [first, ...rest] = points.map(place);
  const line = `M${first.join(" ")}${rest.map(([x, y]) => `H${x}V${y}`).join("")}`;
  picture.append(svg("path", { class: rest.length ? "best" : "best lone", d: rest.length ? line : `${line}h3` }));
  return picture;
}

// A name without blanks may break anywhere rather than outgrow a narrow column.
const broken = (text) => (text.match(/\S{1,12}\s*|\s+/gu) || []).flatMap((part) => [part, el("wbr", {})]);

function rowOf(session) {
  const cells = chosen.data.columns.map(({ key, kind }) => {
    const { text } = session.cells[key];
    if (key === "session")
      return el("th", { scope: "row", class: kind }, el("a", { href: `/log/${session.id}` }, el("bdi", {}, ...broken(text))));
    return el("td", { class: kind }, el("bdi", {}, text));
  });
  return el(
    "tr",
    { id: `log-${session.id}` },
    el("td", {}, mark(session.mark)),
    el("td", {}, el("div", { class: "plot" }, course(session.course))),
    ...cells,
  );
}

function drawSessions() {
  const { sessions } = chosen.data;
  const shown = picked();
  table.tBodies[0].replaceChildren(...shown.map(rowOf));
  for (const head of table.tHead.querySelectorAll("[data-key]")) {
    if (head.dataset.key === chosen.sort) head.setAttribute("aria-sort", chosen.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  byId("shown").textContent =
    shown.length === sessions.length
      ? `${number(shown.length)} ${shown.length === 1 ? "session" : "sessions"}`
      : `${number(shown.length)} of ${number(sessions.length)} sessions`;
}

const form = document.querySelector("#sessions form");
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
byId("find").addEventListener("input", (event) => {
  chosen.find = event.target.value.toLowerCase();
  drawSessions();
});

window.ledgerPage = {
  update(data) {
    // A link that has the focus is drawn anew: the focus goes to the new one.
    const focused = table.tBodies[0].contains(document.activeElement) && document.activeElement.getAttribute("href");
    const [left, top] = [scrollX, scrollY];
    chosen.data = data;
    bind(data);
    byId("notes").hidden = !data.notes.length;
    byId("notes").replaceChildren(...data.notes.map((note) => el("p", { dir: "auto" }, note)));
    drawSessions();
    if (focused) table.tBodies[0].querySelector(`[href="${focused}"]`)?.focus({ preventScroll: true });
    scrollTo(left, top);
  },
};

heads();
drawSessions();
document.documentElement.dataset.drawn = "yes";
