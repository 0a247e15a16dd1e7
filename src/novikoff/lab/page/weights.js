// Weight space: the region of all solutions, and the walk of the weights towards it (after Duda & Hart 1973).

import { arrow, element, keepInside, pathData, sheet, text, written } from "./shared/svg.js";
import { drawCriterion, drawParaboloid } from "./solids.js";

const ASPECT = 2.2;

/** What can be drawn of a run: its walk, and where there are two weights, or a lift, a surface. */
const VIEWS = {
  walk: ["Walk", (svg, title, model) => (model.run.weights.kind === "counts" ? drawCounts : drawWalk)(svg, title, model)],
  criterion: ["Criterion", drawCriterion],
  paraboloid: ["Paraboloid", drawParaboloid],
};

const space = document.getElementById("space");

function possibleViews({ run, state }) {
  if (run.weights.criterion) return ["walk", "criterion"];
  return state.space === "circle" && state.points.length ? ["paraboloid", "walk"] : ["walk"];
}

export function isSolid() {
  return space.dataset.view !== "walk";
}

/** The panel: the view that was asked for, if there is one, and tabs for the others. */
export function drawSpace(model, asked) {
  const views = possibleViews(model);
  const chosen = views.includes(asked) ? asked : views[0];
  const [svg, tabs] = [space.querySelector("svg"), space.querySelector(".tabs")];
  space.dataset.view = chosen;
  tabs.hidden = views.length < 2;
  tabs.replaceChildren(...views.map((name) => {
    const tab = Object.assign(document.createElement("button"), { textContent: VIEWS[name][0], className: "small" });
    for (const [key, value] of Object.entries({ role: "tab", "aria-selected": name === chosen, "data-view": name })) tab.setAttribute(key, value);
    return tab;
  }));
  if (isSolid()) svg.setAttribute("tabindex", 0);
  else svg.removeAttribute("tabindex");
  VIEWS[chosen][1](svg, space.querySelector("h2"), model);
}

function drawWalk(svg, title, model) {
  const { width, height } = sheet(svg);
  const { run, step, moment } = model;
  const { after, view, kind, separator } = run.weights;
  const k = step > 0 ? run.steps.mistakes[step - 1] : 0;
  title.innerHTML = kind === "plane" ? "The walk of <i>w</i>"
    : `The walk of <i>w</i>; now ${slice(after[k])}`;
  const unit = Math.min(width / (2 * view[2] * ASPECT), height / (2 * view[2]));
  const place = ([x, y]) => [width / 2 + (x - view[0]) * unit, height / 2 - (y - view[1]) * unit];
  const origin = place([0, 0]);
  if (moment?.region.length) svg.append(element("path", { class: "region", d: pathData([moment.region], place, true) }));
  svg.append(
    element("line", { x1: 0, x2: width, y1: origin[1], y2: origin[1], class: "axis" }),
    element("line", { x1: origin[0], x2: origin[0], y1: 0, y2: height, class: "axis" }),
  );
  if (separator) {
    const far = 9 * view[2];
    svg.append(element("path", { class: "band", d: pathData([[[0, 0], separator.map((v) => v * far)]], place) }));
    const tip = place(separator.map((v) => v * 0.42 * view[2]));
    svg.append(text("u", tip[0] + 6, tip[1] - 8, "good halo"));
  }
  if (moment?.tie.length) svg.append(element("path", { class: "tie", d: pathData(moment.tie, place) }));
  const mistake = step > 0 && run.steps.mistake[step - 1];
  const walked = after.slice(0, k + 1).map((w) => w.slice(0, 2));
  // Weights whose bias, or lift, is another one lie before or behind this slice: they are pale and hollow.
  const onSlice = (w) => kind === "plane" || w.slice(2).every((value, i) => value === after[k][i + 2]);
  svg.append(element("path", { class: kind === "plane" ? "walk" : "walk beyond", d: pathData([walked], place) }));
  if (run.cycle && step === run.steps.row.length) {
    svg.append(element("path", { class: "walk cycle", d: pathData([walked.slice(run.cycle.mistakes[0], run.cycle.mistakes[1] + 1)], place) }));
  }
  if (!after.slice(0, k + 1).every(onSlice)) svg.append(text(`hollow: another ${after[k].length > 3 ? "c or b" : "b"}`, 6, height - 8, "note halo"));
  if (walked.length <= 60) walked.forEach((w, i) => svg.append(element("circle", { cx: place(w)[0], cy: place(w)[1], r: 3.2, class: onSlice(after[i]) ? "walked-here" : "walked-beyond" })));
  if (mistake) {
    const label = run.labels[run.steps.row[step - 1]];
    svg.append(arrow(place(walked[k - 1]), place(walked[k]), label > 0 ? "red" : "blue"));
  }
  const here = place(walked[k]);
  svg.append(element("circle", { cx: here[0], cy: here[1], r: 6, fill: "currentColor" }));
  svg.append(text("w", here[0] + 10, here[1] - 9, "halo"));
  if (run.certificate?.widest) drawLegend(svg, isSeen(moment?.region ?? [], place, width, height), width);
  for (const words of svg.querySelectorAll(".label")) keepInside(words, width, height);
}

function drawLegend(svg, seen, width) {
  svg.append(text(seen ? "solution region" : "no solution here", width - 4, 18, "legend halo", "end"));
  if (!seen) return;
  const { x } = svg.lastChild.getBBox();
  svg.append(element("rect", { x: x - 25, y: 5, width: 17, height: 14, class: "region" }));
}

function isSeen(region, place, width, height) {
  if (!region.length) return false;
  const [xs, ys] = [0, 1].map((axis) => region.map((point) => place(point)[axis]));
  return Math.max(...xs) > 0 && Math.min(...xs) < width && Math.max(...ys) > 0 && Math.min(...ys) < height;
}

function slice(weights) {
  const names = weights.length === 4 ? ["<i>c</i>", "<i>b</i>"] : ["<i>b</i>"];
  const values = weights.slice(2);
  return names.map((name, i) => `${name} = ${written(values[i])}`).join(", ");
}

function drawCounts(svg, title, model) {
  title.innerHTML = "How often each point was added";
  const { width, height } = sheet(svg);
  const { run, step } = model;
  const k = step > 0 ? run.steps.mistakes[step - 1] : 0;
  const most = Math.max(1, ...run.weights.after.at(-1));
  const counts = run.weights.after[k];
  const gap = width / Math.max(1, counts.length);
  counts.forEach((count, row) => {
    const label = model.state.points[row][2];
    const tall = (count / most) * (height - 46);
    const bar = Math.min(34, gap * 0.62);
    svg.append(element("rect", { x: gap * (row + 0.5) - bar / 2, y: height - 22 - tall, width: bar, height: Math.max(tall, 1.5), rx: 2, class: `bar ${label > 0 ? "red" : "blue"}` }));
    if (count && gap > 16) svg.append(element("text", { x: gap * (row + 0.5), y: height - 28 - tall, class: "coordinate", "text-anchor": "middle" }, count));
    if (gap > 22) svg.append(element("text", { x: gap * (row + 0.5), y: height - 5, class: "coordinate", "text-anchor": "middle" }, row + 1));
  });
}
