// The list of models. Rows stay where they are when figures change, so that the focus does, too.

import { at, node, number, whole } from "./node.js";

const MANY = 8; // from here on there is a field to find one
const RECENT = 1024; // examples for which an alarm is news

const rows = new Map();

/** The names, as a person sorts them: 2 before 10. */
export function inOrder(models) {
  return [...models.keys()].sort(new Intl.Collator("en", { numeric: true }).compare);
}

export function showModels(models, selected) {
  for (const [name, row] of rows) {
    if (models.has(name)) continue;
    row.remove();
    rows.delete(name);
  }
  const names = inOrder(models);
  names.forEach((name, place) => {
    if (!rows.has(name)) rows.set(name, makeRow(name));
    const row = rows.get(name);
    if (at("list").children[place] !== row) at("list").insertBefore(row, at("list").children[place] ?? null);
    fill(row, models.get(name));
    if (name === selected) row.firstChild.setAttribute("aria-current", "page");
    else row.firstChild.removeAttribute("aria-current");
  });
  at("count").textContent = names.length ? whole(names.length) : "";
  at("find").hidden = names.length < MANY && !at("find").value;
  find();
}

function makeRow(name) {
  const link = node("a", { href: `#${encodeURIComponent(name)}` }, node("b", {}, name), node("em", { hidden: "" }), node("small"));
  return node("li", {}, link);
}

function fill(row, figures) {
  const [, badge, words] = row.firstChild.children;
  const said = figures ? describe(figures) : "not in memory";
  if (words.textContent && words.textContent !== said) flash(row);
  words.textContent = said;
  badge.hidden = !figures?.drift_alarms;
  if (badge.hidden) return;
  const recent = figures.examples - figures.drift_last_alarm <= RECENT;
  badge.className = recent ? "drifts" : "drifted";
  badge.textContent = recent ? "drift" : "drifted";
  badge.title = `${number(figures.drift_alarms, "alarm")}, the last after ${number(figures.drift_last_alarm, "example")}`;
}

function describe(figures) {
  const waiting = figures.waiting ? ` · ${whole(figures.waiting)} awaited` : "";
  return `${number(figures.mistakes, "mistake")} in ${whole(figures.examples)}${waiting}`;
}

function flash(row) {
  row.classList.remove("changed");
  void row.offsetWidth; // the animation starts anew
  row.classList.add("changed");
}

function find() {
  const words = at("find").value.trim().toLowerCase();
  for (const [name, row] of rows) row.hidden = !name.toLowerCase().includes(words);
}

at("find").addEventListener("input", find);
