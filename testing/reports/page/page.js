"use strict";
// What is shown of a result is text, and only ever set as text.
const panel = document.getElementById("details");
const form = document.getElementById("filter");
const field = (id) => document.getElementById(id);
const chips = [...document.querySelectorAll("#outcomes .chip")];
let read = null;
let opener = null;

// Read when it is first needed: the page is there before.
function data() {
  read ??= JSON.parse(field("data").textContent);
  return read;
}

function cases() {
  return data().cases;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function heading(text) {
  panel.append(element("h3", text));
}

function table(header, rows) {
  const wide = element("div", undefined, "wide");
  const made = element("table");
  for (const [index, row] of [header, ...rows].entries()) {
    const line = element("tr");
    for (const value of row) line.append(element(index ? "td" : "th", value === null ? "–" : String(value)));
    made.append(line);
  }
  wide.append(made);
  panel.append(wide);
}

function pre(title, text) {
  if (!text) return;
  heading(title);
  panel.append(element("pre", text));
}

function list(pairs) {
  const made = element("dl");
  for (const [name, value] of pairs) made.append(element("dt", name), element("dd", value));
  panel.append(made);
}

function seconds(stages) {
  const sum = stages.reduce((total, [, took]) => total + took, 0);
  heading("seconds");
  list([["all", sum.toFixed(2)], ...stages.map(([stage, took]) => [stage, took.toFixed(2)])]);
}

function show(number) {
  const one = cases()[number];
  if (!one) return;
  const close = element("button", "close", "chip close");
  close.type = "button";
  close.addEventListener("click", hide);
  const state = element("p");
  state.append(element("span", `${one.mark} ${one.outcome.replace("_", " ")}`, `outcome ${one.outcome}`));
  state.append(` · ${one.engine} · ${one.variant}`);
  panel.replaceChildren(close, element("h2", one.name), state);
  if (one.changes) {
    heading("changed");
    list(one.changes);
  }
  pre("cause", one.headline);
  pre("reason", one.reason);
  pre("message", one.message);
  const facts = one.facts ?? [];
  const long = facts.filter(([, value]) => value.includes("\n") && value.length > 200);
  if (facts.length > long.length) {
    heading("facts");
    list(facts.filter((fact) => !long.includes(fact)));
  }
  for (const [name, value] of long) pre(name, value);
  if (one.metrics) {
    heading("against eager, by output");
    table(["output", ...data().figures.map((name) => name.replace("_", " "))], one.metrics);
  }
  if (one.rows) {
    heading("components");
    list(one.rows);
  }
  if (one.tries) pre("earlier tries", one.tries.join("\n"));
  if (one.seconds) seconds(one.seconds);
  pre("versions", data().versions[one.versions]);
  pre("run it alone", one.rerun);
  panel.hidden = false;
  panel.scrollTop = 0;
  panel.focus();
}

function hide() {
  if (panel.hidden) return;
  panel.hidden = true;
  // Without an entry in the history, and without a jump to the top.
  history.replaceState(null, "", location.href.split("#")[0]);
  opener?.focus({ preventScroll: true });
}

// A case is opened by its address, so that a link to it can be kept and sent.
function follow() {
  const found = /^#case-(\d+)$/.exec(location.hash);
  if (found) show(Number(found[1]));
  else panel.hidden = true;
}

function chosen() {
  return {
    outcomes: new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.outcome)),
    engine: field("engine").value,
    variant: field("variant").value,
    area: field("area").value,
    type: field("type").value,
    changed: field("changed")?.checked ?? false,
    words: field("search").value.toLowerCase().split(/\s+/).filter(Boolean),
  };
}

function text(one, kind) {
  one.text ??= [kind, one.name, one.headline, one.message, one.reason, ...(one.facts ?? []).flat()].join("\n").toLowerCase();
  return one.text;
}

function fits(one, row, kind, wanted) {
  return (!wanted.outcomes.size || wanted.outcomes.has(one.outcome))
    && (!wanted.engine || one.engine === wanted.engine)
    && (!wanted.variant || one.variant === wanted.variant)
    && (!wanted.area || row.dataset.area === wanted.area)
    && (!wanted.type || kind === wanted.type)
    && (!wanted.changed || Boolean(one.changes))
    && wanted.words.every((word) => text(one, kind).includes(word));
}

function apply() {
  const wanted = chosen();
  let shown = 0;
  for (const body of document.querySelectorAll("#cases tbody")) {
    let any = false;
    for (const row of body.querySelectorAll("tr[data-area]")) {
      let found = 0;
      for (const link of row.querySelectorAll("a")) {
        const keeps = fits(cases()[numberOf(link)], row, body.dataset.type, wanted);
        link.classList.toggle("away", !keeps);
        found += keeps;
      }
      row.hidden = !found;
      any ||= found > 0;
      shown += found;
    }
    body.hidden = !any;
  }
  field("shown").textContent = `${shown.toLocaleString("en")} ${field("shown").dataset.of}`;
  field("nothing").hidden = shown > 0;
}

function numberOf(link) {
  return Number(link.hash.slice("#case-".length));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#case-"]');
  if (!link) return;
  // A new tab is the browser's to open.
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  opener = link;
  history.pushState(null, "", link.hash);
  show(numberOf(link));
});
window.addEventListener("popstate", follow);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
  if (event.key === "/" && !["INPUT", "SELECT"].includes(document.activeElement.tagName)) {
    event.preventDefault();
    field("search").focus();
  }
});
for (const chip of chips) {
  chip.addEventListener("click", () => {
    chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
    apply();
  });
}
form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => {
  for (const chip of chips) chip.ariaPressed = "false";
  setTimeout(apply);
});
follow();
