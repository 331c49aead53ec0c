// Elements and texts. Data reaches the page as text nodes and attributes only, never as markup.
const NOTHING = "—";
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const byId = (id) => document.getElementById(id);

const pick = (data, path) =>
  path.split(".").reduce((part, key) => (part === null || part === undefined ? part : part[key]), data);
const isThere = (value) => (Array.isArray(value) ? value.length > 0 : Boolean(value));

// What would steer a terminal or turn the writing direction; ordinary right-to-left text stays.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const clean = (text) => String(text).replace(CONTROLS, "");

// A number with all its digits, thousands apart, as `ledger status` writes it.
function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return NOTHING;
  const size = Math.abs(value);
  const text = String(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15 || text.includes("e"))) return text;
  const [whole, part] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",") + (part ? `.${part}` : "");
}

// A number short enough for an axis.
function brief(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6))
    return String(Number(value.toPrecision(3)).toExponential()).replace("e+", "e");
  return number(Number(value.toPrecision(6)));
}

function signed(change) {
  if (change === null) return NOTHING;
  const size = Math.abs(change);
  const text = size < 1e6 ? size.toFixed(1) : size.toPrecision(3);
  return text === "0.0"
    ? "0.0%"
    : `${change < 0 ? "-" : "+"}${number(Number(text)) + (text.endsWith(".0") ? ".0" : "")}%`;
}

const moment = (ms) => (ms === null ? NOTHING : new Date(ms).toISOString().slice(0, 16).replace("T", " "));

function cell(value) {
  if (typeof value === "string") return value;
  if (value.line !== undefined) return el("a", { href: `#line-${value.line}` }, value.text);
  const bar = svg(
    "svg",
    { class: "bar", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { width: value.bar, height: 4 }),
  );
  const parts = document.createDocumentFragment();
  parts.append(value.text, bar);
  return parts;
}

function fillTable(table, made) {
  const rows = made.rows.map((row) =>
    el(
      "tr",
      {},
      ...row.map((value, place) => el("td", { class: made.columns[place].kind }, el("bdi", {}, cell(value)))),
    ),
  );
  table.tBodies[0].replaceChildren(...rows);
}

// Write again what the server wrote, from newer data.
function bind(data) {
  document.title = data.title;
  for (const node of document.querySelectorAll("[data-text]")) {
    const text = pick(data, node.dataset.text);
    if (node.textContent !== text) node.textContent = text;
  }
  for (const node of document.querySelectorAll("[data-tone-from]"))
    node.dataset.tone = pick(data, node.dataset.toneFrom);
  for (const node of document.querySelectorAll("[data-when]")) node.hidden = !isThere(pick(data, node.dataset.when));
  for (const node of document.querySelectorAll("[data-unless]")) node.hidden = isThere(pick(data, node.dataset.unless));
  for (const node of document.querySelectorAll("[data-table]")) fillTable(node, pick(data, node.dataset.table));
  for (const node of document.querySelectorAll("[data-facts]")) {
    const facts = pick(data, node.dataset.facts);
    node.replaceChildren(
      ...facts.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", { dir: "auto" }, value))),
    );
  }
}
