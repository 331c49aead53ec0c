// The table of runs: sorted, filtered, a page of rows at a time; what the reader chose outlives new data.
const PAGE = 100;
const PRINTED = 5000;
const COLUMNS = [
  { key: "run", label: "Run", kind: "number", text: (runs, row) => String(runs.run[row]) },
  {
    key: "status",
    label: "Status",
    kind: "text",
    text: (runs, row) => [mark(runs.status[row]), STATUSES[runs.status[row]]],
  },
  { key: "metric", label: "Metric", kind: "number", text: valueText },
  { key: "delta", label: "Delta", kind: "number", text: (runs, row) => signed(runs.delta[row]) },
  {
    key: "confidence",
    label: "Confidence",
    kind: "number wide",
    text: (runs, row) =>
      runs.confidence[row] === null ? NOTHING : `${number(Number(runs.confidence[row].toPrecision(3)))}×`,
  },
  { key: "commit", label: "Commit", kind: "code wide", text: (runs, row) => runs.commit[row].slice(0, 12) || NOTHING },
  { key: "at", label: "Time (UTC)", kind: "text wide", text: (runs, row) => moment(runs.at[row]) },
  {
    key: "description",
    label: "Description",
    kind: "text long",
    text: (runs, row) => runs.description[row] || NOTHING,
  },
];

function runsTable() {
  const box = byId("table");
  const table = box.querySelector("table.runs");
  const state = {
    model: null,
    rows: [],
    sort: null,
    down: false,
    page: 0,
    open: new Set(),
    without: new Set(),
    find: "",
    segment: "",
    marked: null,
  };
  const draw = (size = PAGE) => drawRows(table, state, size, draw);
  const again = () => {
    state.page = 0;
    select(state);
    draw();
  };
  table.tHead.rows[0].append(
    el("th", { scope: "col" }, el("span", { class: "hidden" }, "Details")),
    ...COLUMNS.map((column) =>
      el(
        "th",
        { scope: "col", class: column.kind, "data-key": column.key },
        el(
          "button",
          {
            type: "button",
            on: {
              click: () => {
                [state.sort, state.down] =
                  state.sort !== column.key ? [column.key, false] : state.down ? [null, false] : [column.key, true];
                again();
              },
            },
          },
          column.label,
        ),
      ),
    ),
  );
  byId("find").addEventListener("input", (event) => {
    state.find = event.target.value.toLowerCase();
    again();
  });
  box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  byId("segments")
    .querySelector("select")
    .addEventListener("change", (event) => {
      state.segment = event.target.value;
      again();
    });
  byId("earlier").addEventListener("click", () => {
    state.page -= 1;
    draw();
  });
  byId("later").addEventListener("click", () => {
    state.page += 1;
    draw();
  });
  addEventListener("beforeprint", () => draw(PRINTED));
  addEventListener("afterprint", () => draw());
  addEventListener("hashchange", () => follow(state, draw));
  return {
    update(model) {
      state.model = model;
      box.hidden = !model.runs.count;
      offerFilters(state, again);
      select(state);
      draw();
    },
    follow: () => follow(state, draw),
  };
}

function offerFilters(state, again) {
  const { runs, segments } = state.model;
  const present = Object.keys(STATUSES).filter((letter) => runs.status.includes(letter));
  const chips = byId("statuses");
  const counts = new Map();
  for (const letter of runs.status) counts.set(letter, (counts.get(letter) || 0) + 1);
  chips.querySelectorAll("label").forEach((label) => label.remove());
  chips.append(
    ...present.map((letter) =>
      el(
        "label",
        { class: "chip" },
        el("input", {
          type: "checkbox",
          value: letter,
          checked: !state.without.has(letter),
          on: {
            change: (event) => {
              if (event.target.checked) state.without.delete(letter);
              else state.without.add(letter);
              again();
            },
          },
        }),
        mark(letter),
        STATUSES[letter],
        el("small", {}, number(counts.get(letter))),
      ),
    ),
  );
  const used = segments.filter((one) => one.end > one.first);
  const choice = byId("segments");
  choice.hidden = used.length < 2;
  choice
    .querySelector("select")
    .replaceChildren(
      el("option", { value: "" }, "all"),
      ...used.map((one) =>
        el("option", { value: one.ordinal, selected: String(one.ordinal) === state.segment }, String(one.ordinal)),
      ),
    );
}

function select(state) {
  const { runs, segments } = state.model;
  state.rows = [];
  for (let row = 0; row < runs.count; row += 1) {
    if (state.without.has(runs.status[row])) continue;
    if (state.segment !== "" && String(segments[runs.segment[row]].ordinal) !== state.segment) continue;
    if (
      state.find &&
      ![runs.description[row], runs.commit[row]].some((text) => text.toLowerCase().includes(state.find)) &&
      String(runs.run[row]) !== state.find
    )
      continue;
    state.rows.push(row);
  }
  if (state.sort) sortRows(state, runs);
}

// Sort stably; what is not there, such as a crash's metric, comes last whichever way.
function sortRows(state, runs) {
  const value =
    {
      status: (row) => STATUSES[runs.status[row]],
      metric: (row) => (runs.status[row] === "x" ? null : runs.metric[row]),
    }[state.sort] || ((row) => (runs[state.sort][row] === "" ? null : runs[state.sort][row]));
  const way = state.down ? -1 : 1;
  state.rows.sort((left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a === null || b === null) return (a === null) - (b === null) || left - right;
    return a === b ? left - right : a < b ? -way : way;
  });
}

function drawRows(table, state, size, draw) {
  const { rows, model } = state;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  state.page = Math.max(0, Math.min(state.page, pages - 1));
  const shown = rows.slice(state.page * size, (state.page + 1) * size);
  table.tBodies[0].replaceChildren(...shown.flatMap((row) => rowOf(state, row, draw)));
  for (const head of table.tHead.querySelectorAll("[data-key]")) {
    if (head.dataset.key === state.sort) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  byId("shown").textContent =
    rows.length === model.runs.count
      ? `${number(rows.length)} ${rows.length === 1 ? "run" : "runs"}`
      : `${number(rows.length)} of ${number(model.runs.count)} runs`;
  byId("page").textContent = `Page ${number(state.page + 1)} of ${number(pages)}`;
  byId("earlier").disabled = state.page === 0;
  byId("later").disabled = state.page === pages - 1;
  byId("earlier").parentElement.hidden = pages === 1;
}

function rowOf(state, row, draw) {
  const { runs } = state.model;
  const line = runs.line[row];
  const isOpen = state.open.has(line);
  const toggle = el("button", {
    type: "button",
    class: "fold",
    "aria-expanded": String(isOpen),
    "aria-controls": `more-${line}`,
    "aria-label": `Details of run ${runs.run[row]}`,
    on: {
      click: () => {
        if (!state.open.delete(line)) state.open.add(line);
        draw();
        document.querySelector(`#line-${line} .fold`).focus();
      },
    },
  });
  const cells = COLUMNS.map((column) => {
    const shown = [].concat(column.text(runs, row));
    if (column.key === "run" && runs.isBest.has(row))
      shown.push(el("span", { class: "star", title: "best", role: "img", "aria-label": "best" }, "★"));
    return column.key === "run"
      ? el("th", { scope: "row", class: column.kind }, ...shown)
      : el("td", { class: column.kind }, el("bdi", {}, ...shown));
  });
  const made = el(
    "tr",
    { id: `line-${line}`, class: state.marked === line ? "marked" : null, tabindex: -1 },
    el("td", {}, toggle),
    ...cells,
  );
  if (!isOpen) return [made];
  const more = el("td", { colspan: COLUMNS.length + 1 });
  unfolded(state.model, row).then((parts) => more.replaceChildren(...parts));
  return [made, el("tr", { class: "unfolded", id: `more-${line}` }, more)];
}

// Go to the run that the address names, whatever the filters say.
function follow(state, draw) {
  const found = /^#line-(\d+)$/.exec(location.hash);
  if (!found || !state.model) return;
  const line = Number(found[1]);
  const row = state.model.runs.line.indexOf(line);
  if (row < 0) return;
  if (!state.rows.includes(row)) {
    Object.assign(state, { find: "", segment: "" });
    state.without.clear();
    byId("find").value = "";
    byId("segments").querySelector("select").value = "";
    for (const chip of byId("statuses").querySelectorAll("input")) chip.checked = true;
    select(state);
  }
  state.marked = line;
  state.page = Math.floor(state.rows.indexOf(row) / PAGE);
  draw();
  const target = byId(`line-${line}`);
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}
