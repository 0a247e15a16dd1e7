// What is happening, in sentences. Numbers carry their full value in data-value.

import { vector, written } from "./shared/svg.js";

const touch = matchMedia("(hover: none)");
const sign = (label) => (label > 0 ? '<span class="is-red">+</span>' : '<span class="is-blue">−</span>');

export function sayStep(model) {
  const { run, step, state } = model;
  const total = run.steps.row.length;
  if (!state.points.length) return touch.matches
    ? ["Tap the plane to put a red point.", "Choose blue above, or a scene."] : ["Click the plane to put a red point.", "Press 2 for blue ones, or choose a scene above."];
  if (step === 0) return [escape(model.lookFor || "The weights begin at zero."), touch.matches ? "Tap ▶ to play, or step by step." : "Press → for the first example, or space to play."];
  const i = step - 1;
  const row = run.steps.row[i];
  const label = run.labels[row];
  const score = `<span data-name="score" data-value="${run.steps.score[i]}">${written(run.steps.score[i])}</span>`;
  const tie = run.steps.score[i] === 0;
  const mistake = run.steps.mistake[i];
  const narrow = run.steps.narrow[i];
  const guess = tie && (state.tie === "mistake" || state.lead > 0) ? "a tie" : `predicted ${sign(run.steps.predicted[i])}`;
  const headline = `Example ${row + 1}: score ${score}, ${guess}, true ${sign(label)}. ${
    mistake ? `<b>${narrow ? escape(model.leadWords.narrow) : state.lead > 0 ? "Mistake, update" : "Mistake"} ${run.steps.mistakes[i]}.</b>` : '<span class="is-good">Right.</span>'}`;
  const done = step === total ? ending(run, state) : "";
  return [headline, done + (mistake ? update(model, i, row) : stays(model, i, done))];
}

function update(model, i, row) {
  const { run, state } = model;
  const k = run.steps.mistakes[i];
  const label = run.labels[row];
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
  if (run.weights.kind === "counts") return "Nothing is added.";
  const w = run.weights.after[run.steps.mistakes[i]];
  if (state.fold_labels && !state.fit_intercept && state.tie === "predict" && !run.steps.mistakes[i]) {
    return 'At <i>w</i> = 0 every folded example has the score 0, which predicts +: all are right, and nothing is learned. Let a score of 0 be a mistake (Rules).';
  }
  const x = run.examples[run.steps.row[i]];
  const used = (values) => (state.fit_intercept ? values : values.slice(0, -1));
  const example = done ? "" : `<i>x</i> = ${vector(used(x))}, and `;
  return `<span class="math">${example}<i>w</i> stays <span data-name="weights" data-value="${w}">${vector(used(w))}</span></span>.`;
}

function ending(run, state) {
  if (run.stopped === "NO_MISTAKES") return `<span class="is-good" id="converged">${sentence(run.ending)}</span> `;
  if (run.cycle) return `<b id="cycle">The weights came back to what they were after ${run.cycle.since === 1 ? "epoch 1" : `${run.cycle.since} epochs`}: no separator exists.</b> `;
  // Quasi-separable examples can all be right where a score of 0 predicts.
  const tiesPredict = state.tie === "predict" && !(state.lead > 0);
  const endless = ["overlapping", ...(tiesPredict ? [] : ["quasi-separable", "not separable"])].includes(run.certificate?.verdict);
  return `${endless ? "It would never converge. " : ""}${sentence(run.ending)} `;
}

function sentence(phrase) {
  return `${phrase[0].toUpperCase()}${phrase.slice(1)}.`;
}

/** How many are wrong by each read-out, beside its line. */
export function sayReadouts({ moment, readouts, state }) {
  if (state.readout !== "all") return "";
  return Object.entries(moment.boundaries).filter(([, shape]) => shape).map(([name]) => `<span class="${name}"><svg viewBox="0 0 30 6" aria-hidden="true"><path class="boundary ${name}" d="M0 3h30"/></svg>${readouts[name]}: ${moment.errors[name]} wrong</span>`).join("");
}

export function sayVerdict(model) {
  const { certificate } = model.run;
  if (!certificate) return ["Two classes are needed", "Put at least one red and one blue point."];
  const facts = certificate.facts.map(({ name, value, words }) => `<span data-name="${name}" data-value="${value}">${escape(words)}</span>`);
  if (model.run.proof.projection) facts.push(escape(model.run.proof.projection.words));
  if (certificate.obstruction) facts.unshift(combination(certificate.obstruction, model.state));
  return [certificate.title, `${[certificate.meaning, ...facts].join("; ")}.${balls(model.run)}`];
}

function combination(proof, state) {
  const few = proof.rows.length <= 8 && proof.weights.every((weight) => weight.length <= 7);
  if (!few) return escape(proof.words);
  const term = (i) => `${proof.weights[i] === "1" ? "" : `${proof.weights[i]}·`}${vector(state.points[proof.rows[i]].slice(0, 2))}`;
  const of = (label) => proof.rows.map((row, i) => [row, i]).filter(([row]) => state.points[row][2] === label).map(([, i]) => term(i)).join(" + ") || "0";
  const lifted = state.space === "circle" ? ", lifted too" : "";
  return `<b class="math" id="combination"><span class="is-red">${of(1)}</span> = <span class="is-blue">${of(-1)}</span></b>${lifted}`;
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
