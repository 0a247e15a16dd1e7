// A box to try an example: what the model says, and the features and past mistakes that decided.

import { ask } from "./api.js";
import { written } from "./shared/svg.js";
import { at, bar, longest, node, number, whole } from "./node.js";

const TOP = 8;
const WORD = /([^\s=]+)(?:=(?:"([^"]*)"|(\S*)))?/g;

/** An example from JSON, or from words such as links=3 from=boss urgent; an error says what is wrong. */
export function parse(words) {
  const trimmed = words.trim();
  if (!trimmed) throw new Error("Write an example first.");
  return /^[{[]/.test(trimmed) ? fromJson(trimmed) : fromWords(trimmed);
}

function fromJson(words) {
  let example;
  try {
    example = JSON.parse(words);
  } catch (error) {
    throw new Error(`This is not JSON: ${error.message}.`);
  }
  if (Array.isArray(example)) throw new Error("An example has names, such as {\"links\": 3}, and is not a list.");
  for (const [name, value] of Object.entries(example)) {
    if (value !== null && !["number", "string", "boolean"].includes(typeof value)) throw new Error(`${name} must be a number, a text, true or false.`);
  }
  return example;
}

function fromWords(words) {
  const example = new Map();
  for (const [word, name, quoted, plain] of words.matchAll(WORD)) {
    if (example.has(name)) throw new Error(`${name} is given twice.`);
    if (plain === "") throw new Error(`${word} has no value; write ${name}=1, or leave it out.`);
    const isNumber = plain !== undefined && Number.isFinite(Number(plain));
    example.set(name, quoted ?? (plain === undefined ? 1 : isNumber ? Number(plain) : plain));
  }
  return Object.fromEntries(example);
}

export function makeTryBox(selected) {
  const [form, box] = [at("try-form"), at("example")];
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = selected();
    at("try-problem").textContent = "";
    box.removeAttribute("aria-invalid");
    try {
      const why = await ask(`v1/models/${encodeURIComponent(name)}/why?top=${TOP}`, { x: parse(box.value) });
      if (name === selected()) showAnswer(why);
    } catch (problem) {
      box.setAttribute("aria-invalid", "true");
      at("try-problem").textContent = problem.message;
      at("answer").hidden = true;
    }
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

/** Show, in the empty box, what an example of this model looks like. */
export function suggest({ classes: [{ weights }] }) {
  at("example").placeholder = weights.slice(0, 3).map(({ feature }) => (feature.includes("=") ? feature : `${feature}=1`)).join(" ");
}

export function clearTryBox() {
  at("answer").hidden = true;
  at("try-problem").textContent = "";
  at("example").removeAttribute("aria-invalid");
}

function showAnswer(why) {
  const parts = [headline(why)];
  if (why.features.length || why.past.length) parts.push(node("div", { class: "reasons" }, features(why), past(why)));
  if (why.rest && Math.abs(why.rest) > 1e-9 * Math.abs(why.lead)) {
    parts.push(node("p", { class: "none" }, `${written(why.rest)} comes from before the log, or from the file that the model began with.`));
  }
  at("answer").replaceChildren(...parts);
  at("answer").hidden = false;
}

function headline({ label, rival, lead, seq }) {
  if (label === null) return node("p", { id: "said" }, "No label is known yet: the model has learned nothing.");
  const ahead = rival === null ? "" : lead > 0 ? `, ahead of ${rival} by ${written(lead)}` : `, level with ${rival}`;
  return node("p", { id: "said" }, node("b", {}, String(label)), node("span", {}, `${ahead}, after event ${whole(seq)}`));
}

function features(why) {
  const most = longest(why.features.map(({ contribution }) => contribution));
  return node("div", { id: "why-features" }, node("h4", {}, "Features that decided"), sides(why), node("div", { class: "rows" }, ...why.features.map(({ feature, value, contribution }) => node("div", { class: "row" },
    node("span", { class: "feature", title: feature }, feature, value === 1 ? null : node("small", {}, ` × ${written(value)}`)), bar(contribution, most), node("output", {}, written(contribution, 0, 3))))));
}

function past(why) {
  const most = longest(why.past.map(({ contribution }) => contribution));
  const more = why.mistakes > why.past.length ? `, the heaviest of ${number(why.mistakes, "mistake")}` : "";
  return node("div", { id: "why-past" }, node("h4", {}, `Past mistakes that decided${more}`), sides(why), node("div", { class: "rows past" }, ...why.past.map(({ seq, x, y, contribution }) => node("div", { class: "row" },
    node("span", { class: "event", title: `event ${whole(seq)}` }, whole(seq)), node("b", { class: "feature", title: y }, y), node("span", { class: "example", title: inWords(x) }, inWords(x)),
    bar(contribution, most), node("output", {}, written(contribution, 0, 3))))));
}

const sides = ({ label, rival }) => node("div", { class: "sides" },
  node("span", { class: "is-minus" }, rival === null ? "" : `← ${rival}`), node("span", { class: "is-plus" }, `${label} →`));

const inWords = (x) => Object.entries(x).map(([name, value]) => `${name}=${typeof value === "number" ? written(value) : value}`).join(" ");
