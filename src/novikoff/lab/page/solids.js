// The criterion as a surface over the weights, with two ways down; and the paraboloid with the plane that cuts it.

import { element, sheet, text, written } from "./shared/svg.js";
import { paint, projection, viewOf } from "./solid.js";

const line = (points, place) => points.map((p) => place(p).slice(0, 2).map((v) => v.toFixed(1)).join(",")).join(" ");

/** J_p over (w1, w2): the perceptron goes down example by example, the batch rule along the whole gradient. */
export function drawCriterion(svg, title, { run, step }) {
  const { width, height } = sheet(svg);
  const { reach, heights, online, batch } = run.weights.criterion;
  const k = step > 0 ? run.steps.mistakes[step - 1] : 0;
  title.innerHTML = `<i>J</i><sub>p</sub>(<i>w</i>) = <span data-name="criterion" data-value="${online[k]}">${written(online[k])}</span>`;
  const highest = Math.max(...heights.flat());
  const up = (value) => (1.5 * value) / highest - 0.65;
  const place = projection(viewOf(svg), [width / 2, height / 2], Math.min(width / 3.1, height / 2.6));
  const at = (i, j) => [(2 * j) / (heights.length - 1) - 1, (2 * i) / (heights.length - 1) - 1, up(heights[i][j])];
  const cells = [];
  for (let i = 0; i + 1 < heights.length; i += 1) {
    for (let j = 0; j + 1 < heights.length; j += 1) {
      const values = [heights[i][j], heights[i][j + 1], heights[i + 1][j + 1], heights[i + 1][j]];
      const level = Math.min(5, Math.floor((6 * Math.max(...values)) / highest));
      cells.push([[at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)], Math.max(...values) === 0 ? "facet solved" : `facet level${level}`]);
    }
  }
  paint(svg, cells, place);
  const on = ([x, y, value]) => [x / reach, y / reach, up(value) + 0.015];
  drawPath(svg, batch.slice(0, k + 1).map(on), place, "batch");
  drawPath(svg, run.weights.after.slice(0, k + 1).map((w, i) => on([w[0], w[1], online[i]])), place, "online");
  svg.append(
    element("circle", { cx: 14, cy: 16, r: 5, class: "walked online" }), text("example by example", 25, 21, "note halo"),
    element("circle", { cx: 14, cy: 36, r: 5, class: "walked batch" }), text("batch", 25, 41, "note halo"),
  );
}

function drawPath(svg, points, place, kind) {
  svg.append(element("polyline", { class: `way ${kind}`, points: line(points, place) }));
  points.slice(-60).forEach((point, i, all) => {
    const [cx, cy] = place(point);
    svg.append(element("circle", { cx, cy, r: i === all.length - 1 ? 6 : 3, class: `walked ${kind}` }));
  });
}

const WIDE = 1.4;
const RINGS = 7;
const SPOKES = 28;

/** Points lifted to (x, y, x² + y²); the plane of the weights cuts the paraboloid above the circle. */
export function drawParaboloid(svg, title, { run, step, state, moment }) {
  const { width, height } = sheet(svg);
  title.textContent = "Plane above, circle below";
  const reach = Math.max(1e-9, ...state.points.map(([x, y]) => Math.hypot(x, y))) * 1.12;
  const place = projection(viewOf(svg), [width / 2, height / 2], Math.min(width / 3.4, height / 2.7));
  const up = (z) => (1.75 * z) / reach ** 2 - 0.8;
  const floor = -0.95;
  const at = (x, y, z) => [(WIDE * x) / reach, (WIDE * y) / reach, up(z)];
  const mesh = [];
  for (let ring = 0; ring < RINGS; ring += 1) {
    for (let spoke = 0; spoke < SPOKES; spoke += 1) {
      const corner = (r, s) => { const [d, t] = [(reach * r) / RINGS, (2 * Math.PI * s) / SPOKES]; return at(d * Math.cos(t), d * Math.sin(t), d * d); };
      mesh.push([[corner(ring, spoke), corner(ring, spoke + 1), corner(ring + 1, spoke + 1), corner(ring + 1, spoke)], "mesh"]);
    }
  }
  paint(svg, mesh, place);
  const k = step > 0 ? run.steps.mistakes[step - 1] : 0;
  drawPlane(svg, run.weights.after[k], reach, place, at);
  for (const curve of moment?.boundaries.last?.curves ?? moment?.boundaries[state.readout]?.curves ?? []) {
    const near = curve.filter(([x, y]) => Math.hypot(x, y) <= reach * 1.05);
    svg.append(
      element("polyline", { class: "rim below", points: line(near.map(([x, y]) => [(WIDE * x) / reach, (WIDE * y) / reach, floor]), place) }),
      element("polyline", { class: "rim", points: line(near.map(([x, y]) => at(x, y, x * x + y * y)), place) }),
    );
  }
  const lifted = state.points.map(([x, y, label]) => [place(at(x, y, x * x + y * y)), place([(WIDE * x) / reach, (WIDE * y) / reach, floor]), label > 0 ? "red" : "blue"]);
  for (const [above, below, colour] of lifted.sort((a, b) => a[0][2] - b[0][2])) {
    svg.append(
      element("line", { x1: above[0], y1: above[1], x2: below[0], y2: below[1], class: "plumb" }),
      element("circle", { cx: below[0], cy: below[1], r: 2.5, class: `dot-${colour}` }),
      colour === "red" ? element("circle", { cx: above[0], cy: above[1], r: 5.5, class: "dot-red" })
        : element("rect", { x: above[0] - 5, y: above[1] - 5, width: 10, height: 10, class: "dot-blue" }),
    );
  }
}

/** The piece of the plane around the circle that it cuts out. */
function drawPlane(svg, [a, b, c, bias], reach, place, at) {
  const [x0, y0] = [-a / (2 * c), -b / (2 * c)];
  const square = x0 ** 2 + y0 ** 2 - bias / c;
  if (!c || !(square > 0) || Math.sqrt(square) > 2 * reach) return;
  const wide = 1.35 * Math.sqrt(square);
  const rim = Array.from({ length: 48 }, (_, i) => [x0 + wide * Math.cos((i * Math.PI) / 24), y0 + wide * Math.sin((i * Math.PI) / 24)]);
  svg.append(element("polygon", { class: "cut", points: line(rim.map(([x, y]) => at(x, y, -(a * x + b * y + bias) / c)), place) }));
}
