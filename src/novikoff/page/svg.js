// Small helpers to draw with. Nothing here computes anything but places on the screen.

const NAMESPACE = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Make a drawing as large as the place it has, empty it, and return its size in pixels. */
export function sheet(svg) {
  const { width, height } = svg.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  return { width, height };
}

/** Polylines or polygons as the data of one path. */
export function pathData(lines, place, close = false) {
  const end = close ? "Z" : "";
  return lines.map((line) => "M" + line.map((p) => place(p).map((v) => v.toFixed(2)).join(" ")).join("L") + end).join("");
}

export function text(words, x, y, kind, anchor = "start") {
  return element("text", { x, y, class: `label ${kind}`, "text-anchor": anchor }, words);
}

/** An arrow between two places on the screen; too short ones have no head. */
export function arrow(from, to, kind) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const group = element("g");
  if (length < 1) return group;
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(13, length);
  const neck = [to[0] - ux * head * 0.8, to[1] - uy * head * 0.8];
  const corners = [to, [to[0] - ux * head - uy * head * 0.42, to[1] - uy * head + ux * head * 0.42],
    [to[0] - ux * head + uy * head * 0.42, to[1] - uy * head - ux * head * 0.42]];
  group.append(
    element("path", { class: `vector ${kind}`, d: pathData([[from, neck]], (p) => p) }),
    element("path", { class: `vector-head ${kind}`, d: pathData([corners], (p) => p, true) }),
  );
  return group;
}

/** A number as a person writes it; `way` rounds a bound to its safe side: -1 down, +1 up. */
export function written(value, way = 0, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en", { useGrouping: Math.abs(value) >= 1e4 }).replace("-", "−");
  const scale = 10 ** (digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  const scaled = value * scale;
  const nearest = Math.round(scaled);
  const whole = way === 0 || Math.abs(scaled - nearest) < 1e-9 * Math.abs(scaled) ? nearest
    : way < 0 ? Math.floor(scaled) : Math.ceil(scaled);
  const rounded = whole / scale;
  const words = Math.abs(rounded) >= 1e6 || Math.abs(rounded) < 1e-4 ? rounded.toExponential(2)
    : rounded.toLocaleString("en", { maximumFractionDigits: 6, maximumSignificantDigits: Math.max(digits, 7), useGrouping: Math.abs(rounded) >= 1e4 });
  return words.replace("-", "−");
}

export function vector(values) {
  return `(${values.map((value) => written(value)).join(", ")})`;
}

/** 1, 2 or 5 times a power of ten, about as large as asked for. */
export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough * 0.999);
}

/** The axis at the bottom, from 0 to `most`, with a name at its end. */
export function drawAxis(svg, most, place, low, name) {
  const [left] = place([0, 0]);
  const [right] = place([most, 0]);
  const step = Math.max(1, niceStep(most / Math.max(1, Math.min(5, (right - left) / (34 + 8 * Math.log10(most))))));
  svg.append(element("line", { x1: left, x2: right, y1: low, y2: low, class: "axis" }));
  for (let k = step; place([k, 0])[0] < right - 24; k += step) {
    svg.append(element("text", { x: place([k, 0])[0], y: low + 17, class: "coordinate", "text-anchor": "middle" }, k.toLocaleString("en")));
  }
  svg.append(text(name, right, low + 18, "soft", "end"));
}

/** Move words until they are inside a drawing of this size. */
export function keepInside(words, width, height, room = 2) {
  const box = words.getBBox();
  const move = (name, low, long, most) => {
    const moved = low < room ? room - low : Math.min(0, most - room - long - low);
    if (moved) words.setAttribute(name, Number(words.getAttribute(name)) + Math.max(moved, room - low));
  };
  move("x", box.x, box.width, width);
  move("y", box.y, box.height, height);
}
