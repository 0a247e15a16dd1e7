// Putting, dragging and erasing points, with the mouse or from the keyboard.

import { scaleOf } from "./plane.js";

/** Coordinates are rounded to a power of two, which is exact in binary: so the whole numbers of a proof stay small. */
function snapped([x, y], view) {
  const grid = 2 ** Math.round(Math.log2(view[2] / 24));
  return [Math.round(x / grid) * grid + 0, Math.round(y / grid) * grid + 0];
}

export function makeEditable(svg, lab) {
  let dragged = null;
  let tapped = null;
  const where = (event) => {
    const box = svg.getBoundingClientRect();
    return snapped(scaleOf(svg, lab.state.view).point([event.clientX - box.left, event.clientY - box.top]), lab.state.view);
  };
  const rowOf = (target) => target.closest?.(".point")?.dataset.row;

  const put = (event, label) => {
    if (!lab.roomForMore()) return;
    const point = [...where(event), label];
    lab.edit((points) => points.push(point));
    lab.selected = lab.state.points.length - 1;
  };

  // The mouse selects, and only the keyboard moves the focus: after a drag, arrows still step.
  svg.addEventListener("mousedown", (event) => { event.preventDefault(); document.activeElement?.blur(); });
  svg.addEventListener("contextmenu", (event) => event.preventDefault());
  svg.addEventListener("pointerdown", (event) => {
    const row = rowOf(event.target);
    const tool = event.button === 2 ? -lab.tool : lab.tool;
    if (lab.tool === 0) {
      if (row !== undefined) remove(lab, Number(row));
      return;
    }
    if (event.pointerType === "touch" && row === undefined) {
      tapped = [event.clientX, event.clientY];  // a finger may be about to scroll
      return;
    }
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    if (row !== undefined) {
      if (!lab.mayMove()) return;
      dragged = { row: Number(row), moved: false };
      lab.select(Number(row));
      return;
    }
    put(event, tool);
    dragged = { row: lab.state.points.length - 1, moved: true };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const place = where(event);
    const [x, y] = lab.state.points[dragged.row];
    if (place[0] === x && place[1] === y) return;
    const again = dragged.moved;
    dragged.moved = true;
    lab.edit((points) => points[dragged.row].splice(0, 2, ...place), again);
  });
  svg.addEventListener("pointerup", (event) => {
    if (tapped && Math.hypot(event.clientX - tapped[0], event.clientY - tapped[1]) < 10) put(event, lab.tool);
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { dragged = tapped = null; });
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function remove(lab, row) {
  lab.selected = null;
  lab.edit((points) => points.splice(row, 1));
}

/** Keys for the point that has the focus, or that the mouse selected; true if the key was one of them. */
export function editByKey(event, lab) {
  const row = document.activeElement?.closest?.("#plane .point")?.dataset.row;
  const meant = row === undefined ? lab.selected : Number(row);
  if ((event.key === "Delete" || event.key === "Backspace") && meant !== null) {
    remove(lab, meant);
    document.getElementById("plane").focus();
  } else if (row === undefined) {
    return false;
  } else if (event.key === "Escape") {
    document.getElementById("plane").focus();
  } else if (ARROWS[event.key]) {
    const grid = 2 ** Math.round(Math.log2(lab.state.view[2] / 24));
    const [dx, dy] = ARROWS[event.key];
    lab.edit((points) => { points[row][0] += dx * grid; points[row][1] += dy * grid; });
  } else {
    return false;
  }
  event.preventDefault();
  return true;
}
