// The heaviest weights, as the read-out has them.

import { written } from "./shared/svg.js";
import { at, bar, longest, node } from "./node.js";

let chosen = 0;

export function showWeights(classes, { classes: shown }) {
  const isBinary = shown.length === 1;
  chosen = Math.min(chosen, shown.length - 1);
  at("class-row").hidden = isBinary;
  if (!isBinary && at("class").length !== shown.length) {
    at("class").replaceChildren(...shown.map(({ label }, i) => new Option(String(label), i)));
  }
  at("class").value = chosen;
  const { intercept, weights } = shown[chosen];
  const rows = [...weights, { feature: "(intercept)", weight: intercept }].filter(({ weight }) => weight !== 0);
  const most = longest(rows.map(({ weight }) => weight));
  const sides = isBinary ? classes.map(String) : ["against it", "for it"];
  at("weights-sides").replaceChildren(...(rows.length && sides.length === 2
    ? [node("span", { class: "is-minus" }, `← ${sides[0]}`), node("span", { class: "is-plus" }, `${sides[1]} →`)] : []));
  at("weights-rows").replaceChildren(...(rows.length
    ? [node("div", { class: "rows" }, ...rows.map(({ feature, weight }) => node("div", { class: "row" },
      node("span", { class: "feature", title: feature }, feature), bar(weight, most), node("output", {}, written(weight, 0, 3)))))]
    : [node("p", { class: "none" }, "All weights are 0.")]));
}

export function onClass(redraw) {
  at("class").addEventListener("change", ({ target }) => {
    chosen = Number(target.value);
    redraw();
  });
}

export function forgetClass() {
  chosen = 0;
  at("class").replaceChildren();
}
