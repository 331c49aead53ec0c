// Follow what the page shows: ask for its data again and again, which costs nothing while it is the same.
const [address, firstTag] = document.body.dataset.live.split("#");
const PERIOD = 2000;
const LONGEST = 60_000;
const followed = { tag: firstTag, timer: null, asking: false };

const told = el("output", {}, "live");
const trouble = el("p", { class: "alert", role: "alert", hidden: true });
const link = (href, words) =>
  el("a", { href, "aria-current": location.pathname === href ? "page" : null }, words);
byId("main").prepend(
  el("nav", { class: "filters", "aria-label": "Pages" }, link("/", "Sessions"), link("/compare", "Comparison"), told),
  trouble,
);

function say(words) {
  if (trouble.textContent !== words) trouble.textContent = words;
  trouble.hidden = !words;
  if (words) told.textContent = "not up to date";
  else if (told.textContent === "not up to date") told.textContent = "live";
}

async function ask() {
  const headers = { "If-None-Match": `"${followed.tag}"`, "X-Ledger-Follow": "yes" };
  const answer = await fetch(address, { cache: "no-store", headers });
  if (answer.status === 304) return say("");
  const data = await answer.json();
  if (data.error) return say(`${data.error} What was read before is shown.`);
  await window.ledgerPage.update(data);
  followed.tag = answer.headers.get("ETag").replaceAll('"', "");
  say("");
  told.textContent = `live, last change ${new Date().toLocaleTimeString()}`;
}

// A page that takes long to make is asked for less often; one that nobody looks at is not asked for.
async function look() {
  if (followed.asking || document.hidden) return;
  clearTimeout(followed.timer);
  const begun = performance.now();
  if (document.documentElement.dataset.drawn === "yes") {
    followed.asking = true;
    try {
      await ask();
    } catch {
      say("The server does not answer: it was ended, or this machine is busy. What was read before is shown.");
    }
    followed.asking = false;
  }
  followed.timer = setTimeout(look, Math.min(LONGEST, Math.max(PERIOD, 5 * (performance.now() - begun))));
}

document.addEventListener("visibilitychange", look);
followed.timer = setTimeout(look, PERIOD);
