// What is happening, in sentences. Numbers carry their full value in data-value.

import { vector, written } from "./shared/svg.js";

const sign = (label) => (label > 0 ? '<span class="is-red">+</span>' : '<span class="is-blue">−</span>');
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

export function sayStep(model) {
  const { run, step, state } = model;
  const total = run.steps.row.length;
  if (!state.points.length) return ["Click the plane to put a red point.", "Press 2 for blue ones, or choose a scene above."];
  if (step === 0) return [escape(model.lookFor || "The weights begin at zero."), "Press → for the first example, or space to play."];
  const i = step - 1;
  const row = run.steps.row[i];
  const label = state.points[row][2];
  const score = `<span data-name="score" data-value="${run.steps.score[i]}">${written(run.steps.score[i])}</span>`;
  const tie = run.steps.score[i] === 0;
  const mistake = run.steps.mistake[i];
  const guess = tie && state.tie === "mistake" ? "a tie" : `predicted ${sign(run.steps.predicted[i])}`;
  const headline = `Example ${row + 1}: score ${score}, ${guess}, true ${sign(label)}. ${
    mistake ? `<b>Mistake ${run.steps.mistakes[i]}.</b>` : '<span class="is-good">Right.</span>'}`;
  const done = step === total ? ending(run) : "";
  return [headline, mistake ? update(model, i, row) + done : stays(model, i, done)];
}

function update(model, i, row) {
  const { run, state } = model;
  const k = run.steps.mistakes[i];
  const label = state.points[row][2];
  if (run.weights.kind === "counts") {
    return `On a mistake, add the example: its coefficient is now ${label < 0 ? "−" : ""}${run.weights.after[k][row]}.`;
  }
  const before = run.weights.after[k - 1];
  const after = run.weights.after[k];
  const used = (w) => (state.fit_intercept ? w : w.slice(0, -1));
  const x = used(run.examples[row]);
  return `<span class="math"><i>w</i>′ = <i>w</i> ${label > 0 ? "+" : "−"} <i>x</i> = ${vector(used(before))} ${label > 0 ? "+" : "−"} ${vector(x)} = <span data-name="weights" data-value="${after}">${vector(used(after))}</span></span>`;
}

function stays(model, i, done) {
  const { run, state } = model;
  if (run.weights.kind === "counts") return `Nothing is added.${done}`;
  const w = run.weights.after[run.steps.mistakes[i]];
  const x = run.examples[run.steps.row[i]];
  const used = (values) => (state.fit_intercept ? values : values.slice(0, -1));
  const example = done ? "" : `<i>x</i> = ${vector(used(x))}, and `;
  return `<span class="math">${example}<i>w</i> stays <span data-name="weights" data-value="${w}">${vector(used(w))}</span></span>.${done}`;
}

function ending(run) {
  if (run.stopped === "NO_MISTAKES") return ' <span class="is-good" id="converged">An epoch without a mistake: done.</span>';
  const endless = ["overlapping", "quasi-separable"].includes(run.certificate?.verdict);
  return !endless ? ` Stopped after ${plural(run.epochs, "epoch")}.` : ` It would go on for ever; stopped after ${plural(run.epochs, "epoch")}.`;
}

export function sayVerdict(model) {
  const { run, state } = model;
  const certificate = run.certificate;
  if (!certificate) return ["Two classes are needed", "Put at least one red and one blue point."];
  const what = { line: state.fit_intercept ? "line" : "line through 0", circle: "circle", poly: "plane in feature space", rbf: "plane in feature space" }[state.space];
  const exactness = certificate.arithmetic === "exact" ? "Proved exactly" : "Proved in ball arithmetic";
  if (certificate.widest) {
    const numbers = `${exactness}: margin <b data-name="margin" data-value="${certificate.margin}">γ ≥ ${certificate.margin_at_least}</b>, length <b data-name="radius" data-value="${certificate.radius}">R ≤ ${certificate.radius_at_most}</b>: at most <b data-name="bound" data-value="${certificate.bound}">${plural(certificate.bound, "mistake")}</b>`;
    return [`A ${what} separates them`, `${numbers}.${balls(run)}`];
  }
  if (certificate.verdict === "separable") {
    const small = "By a theorem: no two equal points have different labels. The margin is too small for a proof in floats.";
    return [`A ${what} separates them`, small];
  }
  const title = certificate.verdict === "undecided" ? "Undecided" : `No ${what} separates them`;
  const first = certificate.first_pass_bound === null || certificate.first_pass_bound === undefined ? ""
    : ` In the first epoch, at most <b data-name="first_pass" data-value="${certificate.first_pass_bound}">${plural(certificate.first_pass_bound, "mistake")}</b> (Freund and Schapire).`;
  return [title, `${combination(certificate, state)}${first}`];
}

function combination(certificate, state) {
  const proof = certificate.obstruction;
  if (!proof) return `No margin above ${certificate.margin_at_most} is possible.`;
  const [digits, few] = [Math.max(...proof.weights.map((weight) => weight.length)), proof.rows.length <= 8];
  if (digits > 7 || !few) return `${proof.rows.length} examples, times their labels and whole numbers of up to ${digits} digits, cancel.`;
  const term = (i) => `${proof.weights[i] === "1" ? "" : `${proof.weights[i]}·`}${vector(state.points[proof.rows[i]].slice(0, 2))}`;
  const of = (label) => proof.rows.map((row, i) => [row, i]).filter(([row]) => state.points[row][2] === label).map(([, i]) => term(i)).join(" + ") || "0";
  const lifted = state.space === "circle" ? ", lifted too" : "";
  return `<b class="math" id="combination"><span class="is-red">${of(1)}</span> = <span class="is-blue">${of(-1)}</span></b>${lifted}.`;
}

function balls(run) {
  if (!run.balls.length) return "";
  const [red, blue] = run.balls.map(({ exists }) => exists);
  if (red && blue) return " Either colour fits into a circle alone.";
  if (red || blue) return ` A circle can hold ${red ? "red" : "blue"} alone, but not ${red ? "blue" : "red"}.`;
  return "";
}

function escape(words) {
  return words.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
}
