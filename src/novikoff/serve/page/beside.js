// What stands beside a model: drift.

import { written } from "./shared/svg.js";
import { at, node, number, whole } from "./node.js";

const MOST = 6; // alarms that are listed

export function showDrift({ window, examples, mistakes, expected, alarms }) {
  const now = examples ? [`In the window at hand, ${whole(examples)} of ${whole(window)} examples: `, node("b", {}, number(mistakes, "mistake")), expected ? `, and ${written(expected, 0, 3)} expected.` : "."]
    : [`The next window of ${whole(window)} examples begins now.`];
  const listed = alarms.slice(-MOST).reverse().map((alarm) => node("li", {},
    node("b", {}, number(alarm.mistakes, "mistake")), ` where ${written(alarm.expected, 0, 3)} were expected`,
    node("small", {}, ` after ${number(alarm.after, "example")}, by chance at most once in ${times(alarm.chance)}`)));
  at("drift-rows").replaceChildren(node("p", {}, ...now),
    listed.length ? node("ol", { class: "alarms" }, ...listed) : node("p", { class: "none" }, "No alarm so far: mistakes come as the record leads one to expect."),
    more(alarms.length));
}

/** How many times it takes for something to happen once, rounded down. */
function times(chance) {
  const many = 1 / Math.max(chance, 1e-300);
  if (many < 1e6) return `${whole(Math.floor(many))} times`;
  return `10${[...String(Math.floor(Math.log10(many)))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")} times`;
}

const more = (all) => node("p", { class: "none" }, all > MOST ? `${whole(all - MOST)} older ones are not shown.` : "");
