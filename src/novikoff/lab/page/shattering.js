// Shattering: which subsets of a few points a class of shapes cuts out, each with its shape.

import { ask, isStatic, scenes } from "./api.js";
import { element, pathData, sheet } from "./shared/svg.js";
import { followTheme } from "./shared/theme.js";
import { complain, toast } from "./toast.js";

const at = (id) => document.getElementById(id);
const page = { scene: "quadrangle", family: "circle", points: [], chosen: "", known: null, shown: null, view: [0, 0, 3] };

let asking = false;
let stale = false;

/** Ask for the newest points; what was asked for meanwhile is asked for once. */
async function refresh() {
  stale = true;
  delete document.body.dataset.ready;
  if (asking) return;
  asking = true;
  try {
    while (stale) {
      stale = false;
      const shown = await ask("shattering", { points: page.points, family: page.family, scene: page.scene });
      if (!stale) settle(shown);
    }
  } catch (error) {
    complain(error);
  } finally {
    asking = false;
  }
}

function settle(shown) {
  page.shown = shown;
  if (!page.dragging) page.view = shown.view;
  const missing = shown.subsets.find(({ cut }) => !cut);
  if (!shown.subsets.some(({ name }) => name === page.chosen) || page.follow) page.chosen = (missing ?? shown.subsets.at(-1)).name;
  draw();
  const link = { scene: page.scene, family: page.family };
  if (page.scene === "custom") link.points = page.points.flat().join(" ");
  history.replaceState(null, "", `#${new URLSearchParams(link)}`);
}

const scaleOf = ({ width, height }, view) => {
  const unit = Math.min(height / (2 * view[2]), width / (2.5 * view[2]));
  return {
    place: ([x, y]) => [width / 2 + (x - view[0]) * unit, height / 2 - (y - view[1]) * unit],
    point: ([px, py]) => [view[0] + (px - width / 2) / unit, view[1] - (py - height / 2) / unit],
  };
};

function draw() {
  if (!page.shown) return;
  const { shown, known, points, family } = page;
  const chosen = shown.subsets.find(({ name }) => name === page.chosen);
  at("scene").value = page.scene;
  document.querySelector(`#families input[value="${family}"]`).checked = true;
  at("look-for").textContent = shown.words;
  at("look-for").dataset.value = shown.count;
  at("subsets-title").textContent = shown.dimension;
  at("add").disabled = points.length >= known.most;
  at("remove").disabled = points.length <= known.fewest;
  at("subset").textContent = `${chosen.name} ${chosen.cut ? "is cut out." : "is missing."}`;
  at("why").textContent = chosen.why || "The shape holds the red points, and keeps the blue ones out.";
  drawPoints(at("points"), chosen);
  drawSubsets(chosen);
  if (!stale) document.body.dataset.ready = shown.count;
}

function drawPoints(svg, chosen) {
  const focused = document.activeElement?.closest?.("#points .corner")?.dataset.row;
  const { place } = scaleOf(sheet(svg), page.view);
  if (chosen.shape) svg.append(element("path", { class: "shape", d: pathData(chosen.shape, place, true) }));
  else drawReason(svg, chosen, place);
  page.points.forEach((point, row) => {
    const [x, y] = place(point);
    const inside = chosen.rows.includes(row);
    const corner = element("g", { class: `corner ${inside ? "in" : "out"}`, transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "data-row": row, "aria-label": `point ${page.known.names[row]}, ${inside ? "in the subset" : "not in it"}` });
    corner.append(element("circle", { r: 20, fill: "transparent" }), element("circle", { r: 16, class: "ring", fill: "none" }),
      inside ? element("circle", { r: 10, class: "body" }) : element("rect", { x: -9, y: -9, width: 18, height: 18, rx: 2, class: "body" }),
      element("text", { class: "name", y: -17 }, page.known.names[row]));
    svg.append(corner);
  });
  if (focused !== undefined) svg.querySelector(`[data-row="${focused}"]`)?.focus();
}

/** The two sets that get into each other's way. */
function drawReason(svg, { rows }, place) {
  const others = page.points.map((_, row) => row).filter((row) => !rows.includes(row));
  for (const set of [rows, others]) svg.append(element("path", { class: "witness", d: pathData([set.map((row) => page.points[row])], place, set.length > 2) }));
}

function drawSubsets(chosen) {
  const { subsets, view } = page.shown;
  const focused = document.activeElement?.closest?.("#subsets button")?.dataset.name;
  const { place } = scaleOf({ width: 100, height: 80 }, view);
  at("subsets").replaceChildren(...subsets.map(({ rows, name, shape, cut }) => {
    const button = document.createElement("button");
    Object.assign(button, { className: cut ? "" : "missing", title: cut ? name : `${name} is missing` });
    button.dataset.name = name;
    button.setAttribute("aria-pressed", String(name === chosen.name));
    const svg = element("svg", { viewBox: "0 0 100 80", "aria-hidden": "true" });
    if (shape) svg.append(element("path", { class: "shape", d: pathData(shape, place, true) }));
    page.points.forEach((point, row) => {
      const [x, y] = place(point);
      svg.append(rows.includes(row) ? element("circle", { cx: x, cy: y, r: 4, class: "small-in" }) : element("rect", { x: x - 3.5, y: y - 3.5, width: 7, height: 7, class: "small-out" }));
    });
    button.append(svg, Object.assign(document.createElement("small"), { textContent: cut ? name : `no ${name}` }));
    return button;
  }));
  if (focused) at("subsets").querySelector(`[data-name="${focused}"]`)?.focus();
}

// -- what the reader does ---------------------------------------------------------------------------------------------

function load(scene, more = {}) {
  const arrangement = page.known.arrangements.find(({ name }) => name === scene);
  Object.assign(page, { scene: arrangement ? scene : "custom", follow: true, ...(arrangement ? { points: structuredClone(arrangement.points) } : {}), ...more });
  return refresh();
}

function changed(points) {
  Object.assign(page, { points, scene: "custom", follow: true });
  return refresh();
}

function makeMovable(svg) {
  let row = null;
  const grid = () => 2 ** Math.round(Math.log2(page.view[2] / 24));
  const snapped = (place) => place.map((v) => Math.round(v / grid()) * grid() + 0);
  svg.addEventListener("pointerdown", (event) => {
    row = event.target.closest?.(".corner")?.dataset.row ?? null;
    if (row === null || isStatic) return;
    page.dragging = true;
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (row === null || !page.dragging) return;
    const box = svg.getBoundingClientRect();
    const place = snapped(scaleOf(box, page.view).point([event.clientX - box.left, event.clientY - box.top]));
    if (page.points.some(([x, y], i) => i !== Number(row) && x === place[0] && y === place[1])) return;
    changed(page.points.map((point, i) => (i === Number(row) ? place : point)));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svg.addEventListener(end, () => {
      if (page.dragging) refresh();
      Object.assign(page, { dragging: false });
      row = null;
    });
  }
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const focused = event.target.closest?.(".corner")?.dataset.row;
    if (!way || focused === undefined || isStatic) return;
    event.preventDefault();
    changed(page.points.map(([x, y], i) => (i === Number(focused) ? [x + way[0] * grid(), y + way[1] * grid()] : [x, y])));
  });
}

/** A new point a little away from all others. */
function add() {
  const [x, y, half] = page.view;
  const taken = new Set(page.points.map(String));
  const free = [[0.1, 0.3], [-0.4, -0.2], [0.5, -0.4], [-0.2, 0.5], [0.3, 0.1]].map(([a, b]) => [x + a * half, y + b * half].map((v) => Math.round(8 * v) / 8));
  return changed([...page.points, free.find((point) => !taken.has(String(point)))]);
}

function open() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const numbers = (asked.get("points") ?? "").split(" ").filter(Boolean).map(Number);
  const points = Array.from({ length: Math.floor(numbers.length / 2) }, (_, i) => numbers.slice(2 * i, 2 * i + 2));
  const family = page.known.families.some(({ name }) => name === asked.get("family")) ? asked.get("family") : "circle";
  if (!isStatic && asked.get("scene") === "custom" && points.length) return load("custom", { points, family });
  const scene = page.known.arrangements.some(({ name }) => name === asked.get("scene")) ? asked.get("scene") : "quadrangle";
  return load(scene, { family });
}

async function begin() {
  followTheme(at("theme"), draw);
  page.known = (await scenes()).shattering;
  at("scene").replaceChildren(...page.known.arrangements.map(({ name, title }) => new Option(title, name)), ...(isStatic ? [] : [new Option("Your own points", "custom")]));
  at("families").innerHTML = page.known.families.map(({ name, title }) => `<label><input type="radio" name="family" value="${name}">${title}</label>`).join("");
  at("scene").addEventListener("change", ({ target }) => load(target.value));
  at("families").addEventListener("change", ({ target }) => { Object.assign(page, { family: target.value, follow: true }); refresh(); });
  at("add").addEventListener("click", add);
  at("remove").addEventListener("click", () => changed(page.points.slice(0, -1)));
  at("subsets").addEventListener("click", ({ target }) => {
    const name = target.closest("button")?.dataset.name;
    if (!name) return;
    Object.assign(page, { chosen: name, follow: false });
    draw();
  });
  makeMovable(at("points"));
  new ResizeObserver(() => draw()).observe(document.querySelector("main"));
  window.addEventListener("hashchange", open);
  await open();
}

begin().catch((error) => toast(error.message));
