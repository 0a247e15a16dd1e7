// The three proofs, live: k gamma <= <w,u> <= ||w|| <= sqrt(k) R, the cosine above its floor, the distance below its ceiling.

import { drawAxis, element, keepInside, pathData, sheet, text, written } from "./shared/svg.js";
import { term } from "./terms.js";

export function drawProof(model, places) {
  const shown = shownProof(model);
  places.title.innerHTML = shown.title;
  places.charts.classList.toggle("single", !shown.separable);
  for (const place of [places.cosine, places.distance]) place.toggleAttribute("hidden", !shown.separable);
  writeNumbers(places.numbers, shown);
  drawSandwich(places.sandwich, shown);
  if (!shown.separable) return;
  drawCosine(places.cosine, shown);
  drawDistance(places.distance, shown);
}

/** Which proof is followed, and how far: in the space of the examples, or, in the first pass, in the one where they are separable. */
function shownProof({ run, step }) {
  const made = step > 0 ? run.steps.mistakes[step - 1] : 0;
  const { proof, certificate } = run;
  if ("progress" in proof) return { proof, k: made, separable: true, title: certificate.bound === null ? "The proof" : "Why it must stop", ...constants(certificate, proof) };
  const { projection } = proof;
  if (projection) {
    const last = projection.length.length - 1;
    const over = made > last ? ", which is over" : "";
    return { proof: projection, k: Math.min(made, last), separable: true, title: `The first pass${over}, in ${projection.dimensions} dimensions`, ...constants(projection, projection) };
  }
  const title = certificate && certificate.verdict !== "separable" ? "Without a separator" : "The proof";
  return { proof, k: made, separable: false, title, R: certificate?.radius ?? proof.length_ceiling[1] ?? 1, gamma: 0, bound: null, whole: false };
}

function constants({ radius: R, margin: gamma, bound }, proof) {
  const whole = bound <= Math.max(4 * (proof.length.length - 1), 12);
  return { R, gamma, bound, whole };
}

/** How far the axis of k goes: to where the bounds meet, or a while further than the mistakes are. */
function reach({ whole, bound, k }) {
  return whole ? bound * 1.12 + 0.5 : span(k);
}

/** How far the axis goes when the end is far away: it doubles whenever the mistakes come near. */
function span(k) {
  let most = 12.5;
  while (most < 1.1 * k) most *= 2;
  return most;
}

function writeNumbers(place, { proof, k, separable }) {
  const [w, u, R, gamma, count] = ["w", "u", "R", "gamma", "k"].map((name) => term(name));
  const parts = [];
  const number = (name, words, value, formula, kind = "") =>
    parts.push(`<div class="${kind}" data-name="${name}" data-value="${value}">${words}<small>${formula}</small></div>`);
  // The same rule everywhere: numbers are rounded to the nearest, and what is equal, but for rounding, is shown as equal.
  const between = (a, b) => parts.push(`<span>${Math.abs(a[k] - b[k]) <= 1e-9 * Math.abs(b[k]) ? "=" : "≤"}</span>`);
  if (separable) {
    number("progress_floor", written(proof.progress_floor[k]), proof.progress_floor[k], `${count}${gamma}`);
    between(proof.progress_floor, proof.progress);
    number("progress", written(proof.progress[k]), proof.progress[k], `⟨${w},${u}⟩`, "progress");
    between(proof.progress, proof.length);
  }
  number("length", written(proof.length[k]), proof.length[k], `‖${w}‖`, "length");
  between(proof.length, proof.length_ceiling);
  const root = proof.symbols && proof.symbols.root !== "R" ? proof.symbols.root : R;
  number("length_ceiling", written(proof.length_ceiling[k]), proof.length_ceiling[k], `√${count}·${root}`);
  if (separable) {
    const left = proof.left[k];
    parts.push(`<div class="left-over" data-name="left" data-value="${left}">${left.toLocaleString("en")}<small>may still come</small></div>`);
  } else {
    const most = proof.margin_at_most[k];
    parts.push(`<div class="left-over" data-name="margin_at_most" data-value="${most ?? ""}">${most ?? "–"}<small>no margin above ‖w‖/k</small></div>`);
  }
  place.innerHTML = parts.join("");
}

function drawSandwich(svg, shown) {
  const { width, height } = sheet(svg);
  const { proof, k, separable, R, gamma, bound, whole } = shown;
  const most = reach(shown);
  const highest = Math.max(R * Math.sqrt(most), gamma * most) * 1.06;
  const [left, right, low, high] = [8, width - 10, height - 24, 8];
  const place = ([x, y]) => [left + (x / most) * (right - left), low - (y / highest) * (low - high)];
  const ceiling = Array.from({ length: 81 }, (_, i) => (most * i * i) / 6400).map((x) => [x, R * Math.sqrt(x)]);
  svg.append(element("path", { class: "forbidden", d: pathData([[...ceiling, [most, highest], [0, highest]]], place, true) }));
  if (separable) svg.append(element("path", { class: "forbidden", d: pathData([[[0, 0], [most, gamma * most], [most, 0]]], place, true) }));
  svg.append(element("path", { class: "bound", d: pathData([ceiling], place) }));
  const beside = most * (whole ? 0.3 : 0.66);
  const [ex, ey] = place([beside, R * Math.sqrt(beside)]);
  const { root, meeting } = proof.symbols ?? { root: "R", meeting: "(R/γ)²" };
  svg.append(whole ? text(`√k·${root}`, ex - 6, ey - 9, "soft", "end") : text(`√k·${root}`, ex + 8, ey + 26, "soft"));
  if (separable) {
    svg.append(element("path", { class: "bound", d: pathData([[[0, 0], [most, gamma * most]]], place) }));
    const at = whole ? 0.62 : 0.8;
    const [fx, fy] = place([most * at, gamma * most * at]);
    if (fy < low - 44 && low - high > 120) svg.append(text("kγ", fx + 4, fy + 21, "soft"));
  }
  drawAxis(svg, most, place, low, "k");
  if (whole) drawMeeting(svg, bound, meeting, (R / gamma) ** 2, R, place, low);
  else if (separable) svg.append(text(`they meet at k = ${bound.toLocaleString("en")} →`, left + 10, high + 19, "note"));
  const seen = (values) => values.slice(0, k + 1).map((value, i) => [i, value]);
  if (separable) drawCurve(svg, seen(proof.progress), place, "progress");
  drawCurve(svg, seen(proof.length), place, "length");
  for (const words of svg.querySelectorAll(".label")) keepInside(words, width, height);
}

function drawMeeting(svg, bound, formula, exact, R, place, low) {
  const [x, y] = place([exact, R * Math.sqrt(exact)]);
  svg.append(
    element("line", { x1: x, x2: x, y1: y, y2: low, class: "now" }),
    element("circle", { cx: x, cy: y, r: 5, class: "meeting" }),
    text(`${x > 200 ? `${formula}: ` : ""}at most ${bound.toLocaleString("en")}`, x - 9, low - 9, "upright halo small", "end"),
  );
}

function drawCosine(svg, shown) {
  const { width, height } = sheet(svg);
  const { proof, k, R, gamma, whole } = shown;
  const most = reach(shown);
  const levels = [[0, "0"], [0.5, "½"], [1, "1"]];
  const [left, right, low, high] = [roomFor(svg, levels), width - 8, height - 24, 22];
  const place = ([x, y]) => [left + (x / most) * (right - left), low - (y / 1.0) * (low - high)];
  drawLevels(svg, levels, place, left);
  const ratio = gamma / R;
  const floor = Array.from({ length: 61 }, (_, i) => (most * i * i) / 3600).map((x) => [x, Math.min(1, ratio * Math.sqrt(x))]);
  svg.append(
    element("rect", { x: left, y: 0, width: right - left, height: high, class: "forbidden" }),
    element("path", { class: "forbidden", d: pathData([[...floor, [most, 0], [0, 0]]], place, true) }),
    element("path", { class: "bound", d: pathData([floor], place) }),
    element("path", { class: "bound", d: pathData([[[0, 1], [most, 1]]], place) }),
  );
  drawAxis(svg, most, place, low, "k");
  drawCurve(svg, proof.cosine.slice(0, k + 1).map((value, i) => [i, value]).slice(1), place, "cosine");
  const [fx, fy] = place([most * 0.55, Math.min(1, ratio * Math.sqrt(most * 0.55))]);
  if (!whole && fy > high + 30 && fy < low - 40) svg.append(text(`√k·γ/${proof.symbols?.root ?? "R"}`, fx, fy - 9, "soft halo", "middle"));
  svg.append(value("cosine", `cos ${k ? written(proof.cosine[k], 0, 3) : "–"}`, proof.cosine[k], 2, high - 8));
}

/** alpha_k = ||w - (R^2/gamma) u||^2 falls by at least R^2 with every mistake, and cannot fall below 0. */
function drawDistance(svg, shown) {
  const { width, height } = sheet(svg);
  const { proof, k, R, gamma } = shown;
  const most = reach(shown);
  const first = proof.distance[0];
  const levels = [[0, "0"], [0.5, short(first / 2)], [1, short(first)]];
  const [left, right, low, high] = [roomFor(svg, levels), width - 8, height - 24, 30];
  const place = ([x, y]) => [left + (x / most) * (right - left), low - y * (low - high)];
  drawLevels(svg, levels, place, left);
  const end = Math.min(most, (R / gamma) ** 2);
  const ceiling = [[0, 1], [end, 1 - end * (gamma / R) ** 2]];
  svg.append(
    element("path", { class: "forbidden", d: pathData([[...ceiling, [most, 0], [most, 1.2], [0, 1.2]]], place, true) }),
    element("path", { class: "bound", d: pathData([ceiling], place) }),
  );
  drawAxis(svg, most, place, low, "k");
  drawCurve(svg, proof.distance.slice(0, k + 1).map((distance, i) => [i, distance / first]), place, "distance");
  svg.append(value("distance", `α ${written(proof.distance[k], 0, 3)}`, proof.distance[k], 2, 14));
}

/** A large number in few letters. */
function short(value) {
  const [size, letter] = value >= 1e6 ? [1e6, "M"] : value >= 1e3 ? [1e3, "k"] : [1, ""];
  return value >= 1e9 ? value.toExponential(0) : `${written(value / size, 0, 2)}${letter}`;
}

/** How far from the left an axis stands that has these numbers beside it. */
function roomFor(svg, levels) {
  const words = levels.map(([, word]) => element("text", { class: "coordinate" }, word));
  svg.append(...words);
  const widest = Math.max(...words.map((word) => word.getBBox().width));
  for (const word of words) word.remove();
  return widest + 9;
}

/** Numbers beside an upright axis. */
function drawLevels(svg, levels, place, left) {
  for (const [level, words] of levels) {
    const y = place([0, level])[1];
    svg.append(element("line", { x1: left - 4, x2: left, y1: y, y2: y, class: "axis" }), element("text", { x: left - 6, y: y + 4, class: "coordinate", "text-anchor": "end" }, words));
  }
}

function value(name, words, number, x, y) {
  const shown = text(words, x, y, "upright small halo");
  shown.setAttribute("data-name", name);
  shown.setAttribute("data-value", number);
  return shown;
}

function drawCurve(svg, points, place, kind) {
  if (!points.length) return;
  svg.append(element("path", { class: `curve ${kind}`, d: pathData([points], place) }));
  const dots = points.length <= 40 ? points : points.slice(-1);
  for (const point of dots) {
    const [cx, cy] = place(point);
    svg.append(element("circle", { cx, cy, r: point === points.at(-1) ? 5.5 : 3.2, class: `dot ${kind}` }));
  }
}
