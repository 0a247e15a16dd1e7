// Tiny margins: how many mistakes a plain perceptron makes, and how rescaling widens the solutions.

import { ask, scenes } from "./api.js";
import { arrow, drawAxis, element, keepInside, niceStep, pathData, sheet, text, vector, written } from "./shared/svg.js";
import { followTheme } from "./shared/theme.js";
import { explainTerms } from "./terms.js";
import { complain } from "./toast.js";

const at = (id) => document.getElementById(id);
const page = { scene: "chain", n: 5, phase: 0, known: [], shown: null };

async function refresh() {
  delete document.body.dataset.ready;
  const { scene, n } = page;
  const shown = await ask("margins", { scene, n });
  if (scene !== page.scene || n !== page.n) return;
  page.shown = shown;
  page.phase = Math.min(page.phase, shown.rescaled.phases.length - 1);
  draw();
  history.replaceState(null, "", `#${new URLSearchParams({ scene, n, phase: page.phase + 1 })}`);
}

function draw() {
  const { scene, n, phase, shown, known } = page;
  if (!shown) return;
  const { plain, rescaled } = shown;
  at("scene").value = scene;
  at("n").value = n;
  at("n-shown").textContent = n;
  at("size").hidden = scene !== "chain";
  at("look-for").textContent = known.find(({ name }) => name === scene).look_for;
  at("plain-words").textContent = `${plain.words}.`;
  at("plain-words").dataset.value = plain.mistakes;
  at("system").innerHTML = `${plain.constants}; in the end <i>w</i> = ${vector(plain.weights)}`;
  at("rescaled-words").textContent = `${rescaled.words}.`;
  at("phase-words").textContent = rescaled.phases[phase].words;
  at("phase-shown").textContent = `phase ${phase + 1} of ${rescaled.phases.length}`;
  Object.assign(at("phase"), { max: rescaled.phases.length, value: phase + 1, disabled: rescaled.phases.length === 1 });
  at("back").disabled = phase === 0;
  at("forward").disabled = phase === rescaled.phases.length - 1;
  if (scene === "chain") drawCounts(at("counts"), shown.counts, n);
  else drawCompared(at("counts"), shown.compared);
  drawAlong(at("along"), plain);
  drawSlice(at("slice"), rescaled, phase);
  drawOpenings(at("openings"), rescaled.phases, phase);
  document.body.dataset.ready = `${phase + 1}`;
}

/** Mistakes for every n on a scale of powers of ten; a column chooses its n. */
function drawCounts(svg, counts, n) {
  const { width, height } = sheet(svg);
  const [left, right, low, high] = [46, width - 12, height - 26, 14];
  const top = Math.ceil(Math.log10(counts.at(-1).bound));
  const place = ([size, value]) => [left + ((size - counts[0].n + 0.5) / counts.length) * (right - left), low - (Math.log10(value) / top) * (low - high)];
  const wide = (right - left) / counts.length;
  for (const { n: size } of counts) {
    const [x] = place([size, 1]);
    const column = element("rect", { x: x - wide / 2, y: 0, width: wide, height, class: `column ${size === n ? "chosen" : ""}` });
    column.addEventListener("click", () => choose({ n: size, phase: 0 }));
    svg.append(column, element("text", { x, y: low + 18, class: "coordinate", "text-anchor": "middle" }, size));
  }
  for (let power = 0; power <= top; power += 2) {
    const [, y] = place([2, 10 ** power]);
    svg.append(element("line", { x1: left, x2: right, y1: y, y2: y, class: "axis" }), element("text", { x: left - 6, y: y + 4, class: "coordinate", "text-anchor": "end" }, `10${"⁰¹²³⁴⁵⁶⁷"[power]}`));
  }
  const series = { bound: "bound", mistakes: "curve made", floor: "bound" };
  for (const [name, kind] of Object.entries(series)) {
    svg.append(element("path", { class: kind, d: pathData([counts.map((count) => [count.n, count[name]])], place) }));
  }
  for (const { n: size, mistakes } of counts) {
    const [cx, cy] = place([size, mistakes]);
    svg.append(element("circle", { cx, cy, r: size === n ? 6 : 3.5, class: "dot made" }));
  }
  const [bx, by] = place([5, counts[3].bound]);
  const [fx, fy] = place([9, counts[7].floor]);
  const [mx, my] = place([8, Math.sqrt(counts[6].mistakes * counts[6].floor)]);
  svg.append(text("(R/γ)²", bx - 8, by - 8, "small soft halo", "end"), text("2ⁿ⁻¹", fx, fy + 24, "small soft halo", "middle"), text("mistakes: (4ⁿ − 1)/3", mx, my + 6, "small upright halo", "middle"));
  for (const words of svg.querySelectorAll(".label")) keepInside(words, width, height);
}

/** The same two cars, told better and better: bars on a scale of powers of ten. */
function drawCompared(svg, compared) {
  const { width, height } = sheet(svg);
  const most = Math.ceil(Math.log10(Math.max(...compared.map(({ mistakes }) => mistakes))));
  const low = height - 36;
  const tall = low / compared.length;
  const long = (value) => (Math.log10(value) / most) * (width - 90);
  for (let power = 0; power <= most; power += 1) {
    const x = 5 + long(10 ** power);
    svg.append(element("line", { x1: x, x2: x, y1: 0, y2: low, class: "axis" }), element("text", { x, y: low + 15, class: "coordinate", "text-anchor": power ? "middle" : "start" }, (10 ** power).toLocaleString("en")));
  }
  svg.append(text("mistakes, in powers of ten", 5, height - 5, "note"));
  compared.forEach(({ words, mistakes }, i) => {
    svg.append(
      element("text", { x: 2, y: i * tall + 18, class: "label note" }, words),
      element("rect", { x: 2, y: i * tall + 24, width: 3 + long(mistakes), height: Math.min(22, tall - 32), rx: 3, class: "bar-made" }),
      element("text", { x: 3 + long(mistakes) + 10, y: i * tall + 24 + Math.min(22, tall - 32) - 5, class: "label small upright" }, mistakes.toLocaleString("en")),
    );
  });
}

/** The length of w along the run, between its floor and its ceiling. */
function drawAlong(svg, { curve, bound, radius, margin }) {
  const { width, height } = sheet(svg);
  const [left, right, low, high] = [8, width - 10, height - 26, 10];
  const most = bound * 1.1;
  const highest = radius * Math.sqrt(most) * 1.05;
  const place = ([x, y]) => [left + (x / most) * (right - left), low - (y / highest) * (low - high)];
  const ceiling = Array.from({ length: 81 }, (_, i) => (most * i * i) / 6400).map((x) => [x, radius * Math.sqrt(x)]);
  svg.append(
    element("path", { class: "forbidden", d: pathData([[...ceiling, [most, highest], [0, highest]]], place, true) }),
    element("path", { class: "forbidden", d: pathData([[[0, 0], [most, margin * most], [most, 0]]], place, true) }),
    element("path", { class: "bound", d: pathData([ceiling, [[0, 0], [most, margin * most]]], place) }),
  );
  drawAxis(svg, most, place, low, "k");
  const along = (values) => curve.k.map((k, i) => [k, values[i]]);
  svg.append(element("path", { class: "curve progress", d: pathData([along(curve.progress)], place) }), element("path", { class: "curve length", d: pathData([along(curve.length)], place) }));
  const [ex, ey] = place([most * 0.3, radius * Math.sqrt(most * 0.3)]);
  const [px, py] = place([curve.k.at(-1), curve.length.at(-1)]);
  svg.append(text("√k·R", ex, ey - 12, "soft", "end"), text("‖w‖, ⟨w,u⟩", px + 8, py + 26, "small length halo"));
  for (const words of svg.querySelectorAll(".label")) keepInside(words, width, height - 20);
}

/** A slice through the middle u of the solutions: sideways along z, upwards towards w. */
function drawSlice(svg, { phases, half }, phase) {
  const { width, height } = sheet(svg);
  const { region, edges, w, stretched } = phases[phase];
  const unit = Math.max(height / (2 * half), width / (3.2 * half));
  const place = ([x, y]) => [width / 2 + x * unit, height / 2 - y * unit];
  if (region.length) svg.append(element("path", { class: "solutions", d: pathData([region], place, true) }));
  svg.append(element("path", { class: "edge", d: pathData(edges, place) }));
  if (stretched) {
    for (const way of [-1, 1]) svg.append(arrow([width / 2, height - 26], [width / 2 + way * Math.min(110, width / 4), height - 26], "length"));
    svg.append(text("stretch along z", width / 2, height - 34, "small upright progress halo", "middle"));
  }
  const [cx, cy] = place([0, 0]);
  svg.append(element("circle", { cx, cy, r: 4, fill: "currentColor" }), text("u", cx + 8, cy - 8, "halo"));
  const seen = w && Math.abs(w[1]) < half && Math.abs(w[0]) < 1.6 * half;
  if (seen) svg.append(element("circle", { cx: place(w)[0], cy: place(w)[1], r: 6, fill: "var(--length)" }), text("w", place(w)[0] + 10, place(w)[1] + 18, "length halo"));
  else svg.append(arrow([cx, 44], [cx, 16], "old"), text(w ? "w is further up" : "w is on the other side", cx + 12, 22, "note halo"));
  svg.append(
    text("solutions", 10, 22, "small upright halo"),
    element("line", { x1: 0, x2: width, y1: cy, y2: cy, class: "axis" }), element("line", { x1: cx, x2: cx, y1: 0, y2: height, class: "axis" }),
    text("z →", width - 8, cy - 8, "note halo", "end"), text("↑ towards w", cx - 8, 22, "note halo", "end"),
  );
}

/** How wide the solutions are: the angle of the largest cone around u, on a scale of powers of two. */
function drawOpenings(svg, phases, phase) {
  const { width, height } = sheet(svg);
  const [left, right, low, high] = [64, width - 14, height - 24, 14];
  const values = phases.map(({ opening }) => Math.log2(opening));
  const [least, most] = [Math.floor(Math.min(...values)), Math.max(Math.ceil(Math.max(...values)), Math.floor(Math.min(...values)) + 2)];
  const place = ([i, value]) => [left + ((i + 0.5) / phases.length) * (right - left), low - ((value - least) / (most - least)) * (low - high)];
  for (let power = least; power <= most; power += Math.ceil((most - least) / 3)) {
    const [, y] = place([0, power]);
    svg.append(element("line", { x1: left, x2: right, y1: y, y2: y, class: "axis" }), element("text", { x: left - 6, y: y + 4, class: "coordinate", "text-anchor": "end" }, `${written(2 ** power, 0, 2)}°`));
  }
  svg.append(element("path", { class: "curve progress", d: pathData([values.map((value, i) => [i, value])], place) }));
  values.forEach((value, i) => {
    const [cx, cy] = place([i, value]);
    svg.append(element("circle", { cx, cy, r: i === phase ? 6 : 3.5, class: "dot", fill: "var(--progress)" }));
  });
  const step = Math.max(1, niceStep(phases.length / Math.max(2, (right - left) / 50)));
  for (let i = 0; i < phases.length; i += step) svg.append(element("text", { x: place([i, least])[0], y: low + 17, class: "coordinate", "text-anchor": "middle" }, i + 1));
  svg.append(text("the widest cone of solutions", left + 8, 14, "note halo"));
}

function choose(change) {
  Object.assign(page, change);
  return refresh().catch(complain);
}

function go(phase) {
  page.phase = Math.max(0, Math.min(page.shown.rescaled.phases.length - 1, phase));
  draw();
  history.replaceState(null, "", `#${new URLSearchParams({ scene: page.scene, n: page.n, phase: page.phase + 1 })}`);
}

function open() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const n = Number(asked.get("n"));
  const phase = Number(asked.get("phase"));
  return choose({
    scene: page.known.some(({ name }) => name === asked.get("scene")) ? asked.get("scene") : "chain",
    n: Number.isInteger(n) && n >= 2 && n <= 10 ? n : 5,
    phase: phase > 0 ? phase - 1 : 0,
  });
}

async function begin() {
  followTheme(at("theme"), draw);
  const { margins, symbols } = await scenes();
  page.known = margins;
  explainTerms(symbols);
  at("scene").replaceChildren(...page.known.map(({ name, title }) => new Option(title, name)));
  at("scene").addEventListener("change", ({ target }) => choose({ scene: target.value, phase: 0 }));
  at("n").addEventListener("input", ({ target }) => choose({ n: Number(target.value), phase: 0 }));
  at("phase").addEventListener("input", ({ target }) => go(Number(target.value) - 1));
  at("back").addEventListener("click", () => go(page.phase - 1));
  at("forward").addEventListener("click", () => go(page.phase + 1));
  document.addEventListener("keydown", ({ key, target }) => {
    if (target.matches?.("input, select") || !page.shown) return;
    if (key === "ArrowRight") go(page.phase + 1);
    if (key === "ArrowLeft") go(page.phase - 1);
  });
  new ResizeObserver(() => draw()).observe(document.querySelector("main"));
  window.addEventListener("hashchange", open);
  await open();
}

begin().catch(complain);
