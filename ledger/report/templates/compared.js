// What a live comparison does with newer data: the same groups are drawn again where they stand.
window.ledgerPage = {
  update(data) {
    const shown = [...document.querySelectorAll("[data-group] > .name")].map((head) => head.textContent);
    if (shown.join("\n") !== data.groups.map((group) => group.heading).join("\n")) {
      location.reload(); // other parts than this page has; the browser goes back to where the reader was
      return;
    }
    const [left, top] = [scrollX, scrollY];
    bind(data);
    for (const section of document.querySelectorAll("[data-group]")) {
      const group = data.groups[section.dataset.group];
      const strips = section.querySelector('[data-part="strip"]');
      section.querySelector(".metric").textContent = group.text;
      section.querySelector('[data-part="lines"]').replaceChildren(...lines(group));
      strips.replaceChildren(...strip(group), strips.querySelector("p.more:last-child"));
    }
    scrollTo(left, top);
  },
};
