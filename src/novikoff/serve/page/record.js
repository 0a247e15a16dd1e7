// What happened to a model, and what it proves: figures, and mistakes over time under the bound.

import { drawAxis, element, niceStep, pathData, sheet, text, written } from "./shared/svg.js";
import { READOUTS, at, letter, node, number, whole } from "./node.js";

const MOST_CLASSES = 6;
export const TINY = 1e-290; // a margin that is nothing but rounding

export function showRecord(about, record) {
  at("name").textContent = about.name;
  at("settings").textContent = [
    describeClasses(about.classes), READOUTS[about.settings.readout],
    record.judge === "served" ? "judged as served" : "judged on arrival",
  ].join(" · ");
  showFigures(about, record);
  sayClaim(about, record);
  drawCurve(record);
}

function describeClasses(classes) {
  if (!classes.length) return "no class yet";
  const shown = classes.slice(0, MOST_CLASSES).map(String).join(classes.length === 2 ? " or " : ", ");
  return classes.length > MOST_CLASSES ? `${shown} and ${whole(classes.length - MOST_CLASSES)} more` : shown;
}

function showFigures(about, { examples, mistakes, revealed, wrong, waiting, delay }) {
  const share = (part, all) => (all ? `${written((100 * part) / all, 0, 3)} %` : null);
  const late = delay.longest ? `on average ${written(delay.mean, 0, 3)} mistakes late` : null;
  at("figures").replaceChildren(
    figure("examples", examples, "examples learned", `${number(about.features, "feature")}`),
    figure("mistakes", mistakes, "mistakes", share(mistakes, examples)),
    figure("wrong", wrong, "wrong predictions", revealed ? `of ${whole(revealed)} whose label came` : "no label came yet"),
    figure("waiting", waiting, "labels awaited", late),
  );
}

function figure(name, value, words, more) {
  return node("div", {}, node("dt", {}, words), node("dd", { "data-name": name, "data-value": value }, whole(value), more && node("small", {}, more)));
}

function sayClaim(about, { mistakes, examples, judge, delay, bound, margin_at_most: most, radius, weights_length: length }) {
  const k = number(mistakes, "mistake");
  if (bound?.holds_for_this_model === undefined || bound.holds_for_this_model === null) {
    at("claim").replaceChildren(examples ? `${k} in ${number(examples, "example")}.` : "Nothing has been learned yet.");
    at("evidence").className = "";
    at("evidence").replaceChildren(!mistakes ? "" : most < TINY ? "The mistakes so far cancel: no weights separate this stream with a margin worth naming."
      : "For this margin the bound is beyond 2⁶³, and says nothing.");
    return;
  }
  const left = bound.holds_for_this_model - mistakes;
  at("claim").replaceChildren(
    `${k} so far. If some weights separate this stream with margin `, letter("γ"), ` = ${written(bound.margin, 1)}, there are at most `,
    node("b", { "data-name": "bound", "data-value": bound.holds_for_this_model }, whole(bound.holds_for_this_model)),
    left >= 0 && !bound.ruled_out ? `: ${whole(left)} may still come.` : ".",
  );
  const proved = [letter("γ"), " ≤ ‖", letter("w"), "‖/", letter("k"), ` = ${written(length)}/${whole(mistakes)} = ${written(most, 1)}`];
  const isLate = judge === "served" && delay.longest > 0;
  at("evidence").className = bound.ruled_out ? "ruled-out" : "";
  at("evidence").replaceChildren(...bound.ruled_out
    ? ["No weights have that margin. The mistakes so far prove ", ...proved, "."]
    : ["The mistakes so far prove ", ...proved, ". The bound is ", about.classes.length > 2 ? "2" : "", ...(isLate ? ["(1 + 2", letter("τ"), ")"] : []), "(", letter("R"), "/", letter("γ"), ")², with ",
      letter("R"), ` = ${written(radius, 1)}`, ...(isLate ? [" and labels that come ", letter("τ"), ` = ${written(delay.mean, 1)} mistakes late`] : []), "."]);
}

function drawCurve({ curve, examples, mistakes, bound, drift }) {
  const svg = at("curve");
  const { width, height } = sheet(svg);
  if (!width) return;
  const points = [[0, 0], ...curve.mistakes.map((value, i) => [curve.stride * (i + 1), value]), [examples, mistakes]];
  const limit = bound?.ruled_out ? Infinity : bound?.holds_for_this_model ?? Infinity;
  const isSeen = limit <= Math.max(3 * mistakes, 12);
  const most = Math.max(examples, 10);
  const highest = isSeen ? Math.max(limit, mistakes) * 1.15 : Math.max(mistakes * 1.3, 4);
  const [left, right, low, high] = [8, width - 12, height - 26, 6];
  const place = ([x, y]) => [left + (x / most) * (right - left), low - (y / highest) * (low - high)];
  drawHeights(svg, highest, place, left, right);
  const above = limit === Infinity ? null : `at most ${whole(limit)}`;
  if (isSeen) {
    const [, y] = place([0, limit]);
    svg.append(element("rect", { x: left, y: high, width: right - left, height: y - high, class: "forbidden" }),
      element("line", { x1: left, x2: right, y1: y, y2: y, class: "bound" }), text(above, right - 8, y - 7, "note", "end"));
  } else if (above) svg.append(text(`${above} ↑`, right - 4, high + 16, "note", "end"));
  drift.alarms.forEach((alarm, i) => drawAlarm(svg, place([alarm.after, 0])[0], low, high, i === drift.alarms.length - 1));
  svg.append(element("path", { class: "area", d: pathData([[...points, [examples, 0]]], place, true) }),
    element("path", { class: "curve mistake", d: pathData([points], place) }));
  const [cx, cy] = place(points.at(-1));
  if (examples) svg.append(element("circle", { cx, cy, r: 5, class: "dot mistake" }));
  drawAxis(svg, most, place, low, "examples");
}

function drawHeights(svg, highest, place, left, right) {
  const step = Math.max(1, niceStep(highest / 4));
  for (let height = step; height < highest * 0.97; height += step) {
    const [, y] = place([0, height]);
    svg.append(element("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }),
      element("text", { x: left + 2, y: y - 4, class: "coordinate" }, whole(height)));
  }
}

function drawAlarm(svg, x, low, high, isLast) {
  svg.append(element("line", { x1: x, x2: x, y1: high + 20, y2: low, class: "alarm" }));
  if (isLast) svg.append(text("drift", x + 5, high + 32, "note alarm-name"));
}
