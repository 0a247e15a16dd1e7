// The plane: points, boundaries, the update as a vector sum, and the certificate.

import { arrow, element, niceStep, pathData, sheet, text, vector, written } from "./shared/svg.js";

export function scaleOf(svg, view) {
  const { width, height } = svg.getBoundingClientRect();
  const unit = height / (2 * view[2]);
  return {
    unit,
    place: ([x, y]) => [width / 2 + (x - view[0]) * unit, height / 2 - (y - view[1]) * unit],
    point: ([px, py]) => [view[0] + (px - width / 2) / unit, view[1] - (py - height / 2) / unit],
  };
}

/** Draw all; `model` has the state, the run, the moment and what is chosen. */
export function drawPlane(svg, model) {
  const focused = document.activeElement?.closest?.("#plane .point")?.dataset.row;
  const size = sheet(svg);
  const { place } = scaleOf(svg, model.state.view);
  const moment = model.moment;
  const main = moment && (moment.boundaries[model.state.readout] ?? moment.boundaries.last);
  if (main) {
    svg.append(
      element("rect", { ...size, class: "wash-negative" }),
      element("path", { class: "wash-positive", d: pathData(main.positive, place, true) }),
    );
  }
  drawGrid(svg, model.state.view, size, place);
  if (model.certificateShown) drawCertificate(svg, model, place);
  if (moment) drawBoundaries(svg, model, place);
  const named = model.step > 0 && !model.certificateShown ? drawVectors(svg, model, place, size) : null;
  drawPoints(svg, model, place, size);
  if (named) svg.append(named);
  if (model.certificateShown) drawShares(svg, model, place);
  if (focused !== undefined) svg.querySelector(`.point[data-row="${focused}"]`)?.focus();
}

function drawGrid(svg, view, size, place) {
  const step = niceStep(view[2] / 3.2);
  const aspect = size.width / size.height;
  const group = element("g", { "aria-hidden": "true" });
  const along = (centre, half) => {
    const found = [];
    for (let i = Math.ceil((centre - half) / step); i * step <= centre + half; i += 1) found.push(i * step);
    return found;
  };
  for (const x of along(view[0], view[2] * aspect)) {
    const [px] = place([x, 0]);
    group.append(element("line", { x1: px, x2: px, y1: 0, y2: size.height, class: Math.abs(x) < step / 2 ? "axis" : "grid" }));
    if (px > 30 && px < size.width - 30) {
      group.append(element("text", { x: px, y: size.height - 8, class: "coordinate", "text-anchor": "middle" }, written(x)));
    }
  }
  for (const y of along(view[1], view[2])) {
    const [, py] = place([0, y]);
    group.append(element("line", { x1: 0, x2: size.width, y1: py, y2: py, class: Math.abs(y) < step / 2 ? "axis" : "grid" }));
    if (py > 20 && py < size.height - 30) {
      group.append(element("text", { x: 8, y: py + 4, class: "coordinate" }, written(y)));
    }
  }
  svg.append(group);
}

function drawBoundaries(svg, { moment, state: { readout } }, place) {
  if (moment.before) svg.append(element("path", { class: "boundary before", d: pathData(moment.before.curves, place) }));
  const shown = Object.entries(moment.boundaries).filter(([, shape]) => shape);
  for (const [name, shape] of shown.reverse()) {
    const thin = readout === "all" && name !== "last" ? "thin" : "";
    svg.append(element("path", { class: `boundary ${name} ${thin}`, "data-boundary": name, d: pathData(shape.curves, place) }));
  }
}

/** Marks and words grow with the plane, so that a class sees them from afar. */
function enlarged(size) {
  return Math.min(1.4, Math.max(0.72, size.height / 620));
}

function drawPoints(svg, model, place, size) {
  const atHand = model.step > 0 ? model.run.steps.row[model.step - 1] : -1;
  const certificate = model.certificateShown ? model.run?.certificate : null;
  const supports = new Set(certificate?.obstruction?.rows ?? certificate?.support ?? []);
  const group = element("g");
  const moved = movedPoints(model);
  model.state.points.forEach(([x, y, own], row) => {
    const [px, py] = place(moved ? moved.drawn[row] : [x, y]);
    const label = moved ? moved.labels[row] : own;
    if (moved) svg.append(ghost(place([x, y]), [px, py]));
    const kind = [label > 0 ? "red" : "blue", row === atHand ? "at-hand" : "", supports.has(row) ? "support" : "",
      row === model.selected ? "selected" : ""];
    const point = element("g", {
      class: `point ${kind.filter(Boolean).join(" ")}`, transform: `translate(${px} ${py}) scale(${enlarged(size)})`, tabindex: 0,
      "data-row": row, role: "button",
      "aria-label": `${label > 0 ? "red, plus" : "blue, minus"}, example ${row + 1} at ${vector([x, y])}`,
    });
    const body = label > 0 ? element("circle", { r: 11, class: "body" })
      : element("rect", { x: -10, y: -10, width: 20, height: 20, rx: 2, class: "body" });
    const ring = label > 0 ? element("circle", { r: 17, class: "ring" })
      : element("rect", { x: -16, y: -16, width: 32, height: 32, rx: 5, class: "ring" });
    const sign = element("path", { class: "sign", d: label > 0 ? "M-5 0h10M0 -5v10" : "M-5 0h10" });
    point.append(element("circle", { r: 18, fill: "transparent" }), ring, body, sign);
    group.append(point);
  });
  if (atHand >= 0) group.append(group.children[atHand]);
  svg.append(group);
}

/** Where the points are that the learner sees, if folding or unit length moved them. */
function movedPoints({ state, run }) {
  const kept = run?.drawn.length === state.points.length && (state.fold_labels || state.unit_length);
  return kept && run.drawn.some(([x, y], row) => x !== state.points[row][0] || y !== state.points[row][1]) ? run : null;
}

function ghost(from, to) {
  const group = element("g", { class: "ghost", "pointer-events": "none" });
  group.append(
    element("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "moved" }),
    element("circle", { cx: from[0], cy: from[1], r: 6, class: "meeting" }),
  );
  return group;
}

function drawVectors(svg, model, place, size) {
  if (model.run.weights.kind === "counts") return null;
  const { steps, weights } = model.run;
  const now = steps.mistakes[model.step - 1];
  const mistake = steps.mistake[model.step - 1];
  const origin = place([0, 0]);
  const inside = origin[0] > 0 && origin[0] < size.width && origin[1] > 0 && origin[1] < size.height;
  if (!inside || now === 0) return null;
  const after = weights.after[now].slice(0, 2);
  const before = mistake ? weights.after[now - 1].slice(0, 2) : after;
  const { unit } = scaleOf(svg, model.state.view);
  const room = (value, low, high) => (value > 0 ? high : low) / (Math.abs(value) * unit || 1e-9);
  const fits = ([x, y]) => Math.min(room(x, origin[0] - 26, size.width - origin[0] - 26), room(y, size.height - origin[1] - 26, origin[1] - 26));
  const shrink = Math.min(1, fits(after), fits(before));
  const tip = (w) => place(w.map((v) => v * shrink));
  const group = element("g", { "pointer-events": "none" });
  const names = element("g", { "pointer-events": "none" });
  if (mistake) {
    const row = steps.row[model.step - 1];
    const label = model.run.labels[row];
    const colour = label > 0 ? "red" : "blue";
    group.append(arrow(origin, tip(before), "old"), arrow(tip(before), tip(after), colour));
    const middle = tip([(before[0] + after[0]) / 2, (before[1] + after[1]) / 2]);
    names.append(text(label > 0 ? "+ x" : "− x", middle[0] + 10, middle[1] - 8, "halo"));
    if (Math.hypot(...before) * shrink > 0.2 * model.state.view[2]) names.append(beside("w", tip(before), origin));
  }
  group.append(arrow(origin, tip(after), "new"));
  if (Math.hypot(...after) > 0) names.append(beside(mistake ? "w′" : "w", tip(after), origin));
  if (shrink < 1) names.append(text(`arrows at ${written(100 * shrink, 0, 2)} % of their length`, 14, 26, "note halo"));
  svg.append(group);
  return names;
}

function beside(name, tip, origin) {
  const length = Math.hypot(tip[0] - origin[0], tip[1] - origin[1]) || 1;
  return text(name, tip[0] + ((tip[0] - origin[0]) / length) * 19, tip[1] + ((tip[1] - origin[1]) / length) * 19 + 6, "halo", "middle");
}

function drawCertificate(svg, model, place) {
  const certificate = model.run?.certificate;
  if (!certificate) return;
  const group = element("g", { id: "evidence" });
  if (certificate.widest) {
    for (const edge of certificate.widest.band) group.append(element("path", { class: "band", d: pathData(edge.curves, place) }));
    group.append(element("path", { class: "widest", d: pathData(certificate.widest.boundary.curves, place) }));
  }
  const proof = certificate.obstruction;
  proof?.hulls.forEach((corners, i) => {
    const kind = proof.folded.length ? "folded" : i === 0 ? "red" : "blue";
    group.append(element("path", { class: `hull ${kind}`, d: pathData([corners], place, true) }));
  });
  for (const point of proof?.folded ?? []) {
    const [x, y] = place(point);
    group.append(element("circle", { cx: x, cy: y, r: 6, class: "meeting ghost" }));
  }
  svg.append(group);
}

function drawShares(svg, model, place) {
  const proof = model.run?.certificate?.obstruction;
  if (!proof) return;
  const group = element("g", { "pointer-events": "none" });
  if (proof.meeting) {
    const [x, y] = place(proof.meeting);
    group.append(element("circle", { cx: x, cy: y, r: 7, class: "meeting" }));
  }
  proof.rows.forEach((row, i) => {
    const [x, y, label] = model.state.points[row];
    const [px, py] = place([x, y]);
    const words = proof.weights[i].length > 7 ? `${proof.weights[i].length} digits` : proof.weights[i];
    group.append(element("text", { x: px + 21, y: py + (label > 0 ? -12 : 24), class: "share" }, `× ${words}`));
  });
  svg.append(group);
}
