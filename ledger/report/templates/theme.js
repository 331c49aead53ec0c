// Light or dark: as the system has it, until the reader says otherwise; kept where the browser lets a file keep things.
function themeButton() {
  const names = { "": "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
  const button = byId("theme");
  const kept = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("ledger-theme") || "";
      localStorage.setItem("ledger-theme", value);
    } catch {
      /* a page from disk may have no storage */
    }
    return value || "";
  };
  const set = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = names[theme];
  };
  let theme = kept() in names ? kept() : "";
  set(theme);
  button.hidden = false;
  button.addEventListener("click", () => {
    const order = matchMedia("(prefers-color-scheme: dark)").matches ? ["", "light", "dark"] : ["", "dark", "light"];
    theme = order[(order.indexOf(theme) + 1) % order.length];
    set(theme);
    kept(theme);
  });
}
