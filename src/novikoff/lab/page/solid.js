// Three dimensions on a flat page: a point of a box from -1 to 1, turned by the reader, seen from afar.

import { element } from "./shared/svg.js";

const views = new WeakMap();

/** How a drawing is turned: `turn` around the upright axis, `tilt` downwards, in degrees. */
export function viewOf(svg) {
  if (!views.has(svg)) views.set(svg, { turn: 35, tilt: 28 });
  return views.get(svg);
}

/** From (x, y, z) to a place on the screen, and how near it is; `size` is the half-width of the box in pixels. */
export function projection({ turn, tilt }, centre, size) {
  const [ct, st] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  const [cv, sv] = [Math.cos((tilt * Math.PI) / 180), Math.sin((tilt * Math.PI) / 180)];
  return ([x, y, z]) => {
    const [across, away] = [ct * x + st * y, -st * x + ct * y];
    return [centre[0] + size * across, centre[1] - size * (z * cv + away * sv), z * sv - away * cv];
  };
}

/** Polygons [corners, class] drawn from the far ones to the near ones. */
export function paint(svg, polygons, place) {
  const placed = polygons.map(([corners, kind]) => [corners.map(place), kind]);
  const depth = ([corners]) => corners.reduce((sum, corner) => sum + corner[2], 0) / corners.length;
  for (const [corners, kind] of placed.sort((a, b) => depth(a) - depth(b))) {
    svg.append(element("polygon", { class: kind, points: corners.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ") }));
  }
}

/** Turn a drawing by dragging it sideways, or by its arrow keys. `isSolid` says whether it is one at the moment. */
export function makeTurnable(svg, isSolid, redraw) {
  let from = null;
  const turn = (dx, dy) => {
    const view = viewOf(svg);
    view.turn = (view.turn + dx) % 360;
    view.tilt = Math.max(2, Math.min(88, view.tilt + dy));
    redraw();
  };
  svg.addEventListener("pointerdown", (event) => {
    if (!isSolid()) return;
    from = [event.clientX, event.clientY];
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    turn((event.clientX - from[0]) * 0.6, (event.clientY - from[1]) * 0.4);
    from = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { from = null; });
  svg.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] }[event.key];
    if (!way || !isSolid() || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    turn(...way);
  });
}
