// A log's report, drawn from its data, and drawn again when a live page has newer data for it.
themeButton();
const runTable = runsTable();
const choices = { everyMultiple: false, everyChart: false };
const FIRST_CHARTS = 6;

async function draw(data) {
  const model = await load(data);
  drawCharts(model);
  drawMultiples(model);
  const { untold } = model.secondary;
  byId("untold").hidden = !untold;
  byId("untold").textContent = `${number(untold)} or more further names are left out; ledger metrics lists them.`;
  runTable.update(model);
  return model;
}

function drawCharts(model) {
  const { charts } = model;
  const shown = choices.everyChart ? charts : charts.slice(0, FIRST_CHARTS);
  byId("charts").replaceChildren(...shown.map((chart) => trajectory(model, chart, charts.length === 1)));
  if (shown.length === charts.length) return;
  byId("charts").append(
    el(
      "button",
      {
        type: "button",
        class: "quiet",
        on: {
          click: () => {
            choices.everyChart = true;
            drawCharts(model);
          },
        },
      },
      `Show the charts of all ${number(charts.length)} metrics`,
    ),
  );
}

function drawMultiples(model) {
  byId("multiples").replaceChildren(
    ...multiples(model, choices.everyMultiple, () => {
      choices.everyMultiple = true;
      drawMultiples(model);
    }),
  );
}

// What a live page calls with newer data: the reader's filters, unfolded rows and place on the page stay.
window.ledgerPage = {
  async update(data) {
    const [left, top] = [scrollX, scrollY];
    bind(data);
    await draw(data);
    scrollTo(left, top);
  },
};

draw(pageData()).then(() => {
  runTable.follow();
  document.documentElement.dataset.drawn = "yes";
});
