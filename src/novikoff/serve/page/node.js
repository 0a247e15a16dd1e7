// How elements are made. Whatever a user named is put in as text: nothing on this page is ever parsed as HTML.

import { written } from "./shared/svg.js";

export const at = (id) => document.getElementById(id);

export function node(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null).map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export const READOUTS = {
  auto: "the last weights or their average", last: "the last weights", average: "the averaged weights",
};

/** A letter of the mathematics. */
export const letter = (words) => node("i", {}, words);

/** A whole number, with commas; a very large one is a bound, and is rounded up. */
export const whole = (value) => (Math.abs(value) < 1e12 ? value.toLocaleString("en") : written(value, 1));

/** A number of things. */
export const number = (value, one, many = `${one}s`) => `${whole(value)} ${value === 1 ? one : many}`;

/** A bar to the right or to the left, as long as its share of the longest. */
export function bar(value, longest) {
  const fill = node("span", { class: value < 0 ? "minus" : "plus" });
  fill.style.width = `${longest ? (50 * Math.abs(value)) / longest : 0}%`;
  return node("span", { class: "bar", "aria-hidden": "true" }, fill);
}

export const longest = (values) => Math.max(...values.map(Math.abs), 0);
