// What a run's row hides: its whole description, when it was, why it was decided so, its metrics and its asi.
async function unfolded(model, row) {
  const { runs } = model;
  const details = await detailsOf(model, row);
  const facts = [
    ["Line of the log", String(runs.line[row])],
    ["Time (UTC)", moment(runs.at[row])],
    ["Commit", runs.commit[row] || NOTHING],
    ["Confidence when logged", runs.confidence[row] === null ? NOTHING : number(runs.confidence[row])],
  ];
  if (model.decisions[row]) facts.push(["Decision", model.decisions[row]]);
  const parts = [el("p", { class: "whole", dir: "auto" }, runs.description[row] || NOTHING), pairs(facts, "")];
  if (details === null)
    parts.push(
      el("p", {}, "The rest is not on this page, or this browser cannot open it; it is in the log at that line."),
    );
  for (const [key, heading, kind] of [
    ["metrics", "Secondary metrics", "metrics"],
    ["asi", "asi", "asi"],
    ["more", "Further keys", "further"],
  ]) {
    const entries = details && details[key] ? Object.entries(details[key]) : [];
    if (entries.length)
      parts.push(
        el("h4", {}, heading),
        pairs(
          entries.map(([name, value]) => [name, inWords(value)]),
          kind,
        ),
      );
  }
  return parts;
}

const inWords = (value) =>
  typeof value === "string" ? value : typeof value === "number" ? number(value) : JSON.stringify(value, null, 2);

const pairs = (entries, kind) =>
  el(
    "dl",
    { class: `pairs ${kind}` },
    ...entries.map(([name, value]) =>
      el("div", {}, el("dt", { dir: "auto" }, clean(name)), el("dd", { dir: "auto" }, clean(value))),
    ),
  );
