// A tip that follows the pointer or the arrow keys over a chart, and is read out.
function makeTip(box) {
  const tip = el("div", { class: "tip", role: "status", "aria-live": "polite", hidden: true });
  box.append(tip);
  return {
    node: tip,
    show(lines, x, y) {
      tip.replaceChildren(
        ...lines.filter(Boolean).map((line, place) => el(place ? "span" : "strong", { dir: "auto" }, line)),
      );
      tip.hidden = false;
      const room = box.clientWidth;
      tip.style.left = `${Math.max(4, Math.min(x + 14, room - tip.offsetWidth - 4))}px`;
      const above = y - tip.offsetHeight - 12;
      tip.style.top = `${above < 0 ? y + 16 : above}px`;
    },
    hide() {
      tip.hidden = true;
    },
  };
}

// Call draw(width) now and whenever the box gets another width.
function whenSized(box, draw) {
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.round(box.clientWidth);
    if (now && now !== width) {
      width = now;
      draw(now);
    }
  }).observe(box);
}
