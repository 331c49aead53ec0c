// The comparison, drawn from its data.
themeButton();
const { groups } = pageData();
for (const section of document.querySelectorAll("[data-group]")) {
  const group = groups[section.dataset.group];
  section.querySelector('[data-part="lines"]').replaceChildren(...lines(group));
  section
    .querySelector('[data-part="strip"]')
    .replaceChildren(
      ...strip(group),
      el(
        "p",
        { class: "more" },
        "A stroke is a run that beat the best before it, by so many points of percent of the baseline; the dot is the median.",
      ),
    );
}
document.documentElement.dataset.drawn = "yes";
