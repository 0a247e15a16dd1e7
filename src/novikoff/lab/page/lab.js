// The lab: what is on the page, and what keys and buttons do to it.

import { ask, isStatic, scenes } from "./api.js";
import { editByKey, makeEditable } from "./edit.js";
import { drawPlane } from "./plane.js";
import { drawProof } from "./proof.js";
import { listenToRules, makePanels, nameRules, showRules } from "./rules.js";
import { makeSample, showSample } from "./sample.js";
import { asFragment, download, fromFragment } from "./share.js";
import { element } from "./shared/svg.js";
import { followTheme } from "./shared/theme.js";
import { complain, toast } from "./toast.js";
import { explainTerms } from "./terms.js";
import { makeTurnable } from "./solid.js";
import { drawSpace, isSolid } from "./weights.js";
import { sayReadouts, sayStep, sayVerdict } from "./words.js";

const DEFAULTS = { points: [], space: "line", fit_intercept: true, fold_labels: false, unit_length: false, tie: "mistake", lead: 0, readout: "last", shuffle: false,
  seed: 0, max_iter: 100, degree: 2, gamma: 1, view: [0, 0, 3] };
const PLAY = "M8 5l11 7-11 7z";
const PAUSE = "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z";

const at = (id) => document.getElementById(id);
const plane = at("plane");

const lab = {
  // `state` is what was asked for, `shown` is what the run and the drawings are about.
  state: structuredClone(DEFAULTS), shown: null, run: null, moment: null, step: 0, tool: 1, certificateShown: false, lookFor: "", selected: null,
  scene: "custom", sample: null, view: null, undone: [], known: [], limits: { points: 200, steps: 5000 }, readouts: {},

  edit(change, sameStroke = false) {
    if (!sameStroke) keep();
    change(lab.state.points);
    custom();
    // Until the library has answered, the old boundary is better than none; the old run may name points that are gone.
    const moved = lab.shown?.points.length === lab.state.points.length;
    drawPlane(plane, { ...lab, step: moved ? lab.step : 0, certificateShown: moved && lab.certificateShown });
    return refresh();
  },
  select(row) {
    lab.selected = row;
    draw();
  },
  mayMove() {
    const { fit_intercept: bias, fold_labels: folded, unit_length: scaled, space } = lab.state;
    const moved = space === "line" && !bias && (folded || scaled);
    if (moved) toast("Folding and unit length have moved the points; switch them off (Rules) to drag.");
    return !moved;
  },
  roomForMore() {
    const room = lab.state.points.length < lab.limits.points;
    if (!room) toast(`The lab shows at most ${lab.limits.points} points.`);
    return room;
  },
};

// -- asking the library, the latest question first ------------------------------------------------------------------

let asking = null;
let stale = false;
let moments = new Map();

function refresh() {
  stale = true;
  delete document.body.dataset.ready;
  asking ??= askAgain().finally(() => { asking = null; });
  return asking;
}

async function askAgain() {
  while (stale) {
    stale = false;
    try {
      const state = structuredClone(lab.state);
      const run = await ask("run", { state, scene: lab.scene, sample: lab.sample });
      if (stale) continue;
      Object.assign(lab, { run, shown: state });
      moments = new Map();
      lab.step = Math.min(lab.step, run.steps.row.length);
      showRules(lab.state);
      drawTicks();
      await show();
    } catch (error) {
      toast(error.message);
    }
  }
}

function momentAt(step) {
  if (!moments.has(step)) moments.set(step, ask("moment", { state: lab.shown, step, scene: lab.scene, sample: lab.sample }));
  return moments.get(step);
}

async function show() {
  const { run, step } = lab;
  const moment = await momentAt(step);
  if (run !== lab.run || step !== lab.step) return;
  lab.moment = moment;
  draw();
  if (step < run.steps.row.length) momentAt(step + 1).catch(() => {});
  remember();
}

function draw() {
  if (!lab.run) return;
  const total = lab.run.steps.row.length;
  const model = { ...lab, state: lab.shown };
  // Words first: drawings are as large as the words leave them room.
  [at("headline").innerHTML, at("detail").innerHTML] = sayStep(model);
  [at("verdict-title").textContent, at("verdict-text").innerHTML] = sayVerdict(model);
  at("readouts").innerHTML = sayReadouts(model);
  drawPlane(plane, model);
  drawProof(model, { title: at("proof-title"), numbers: at("sandwich-numbers"), charts: document.querySelector(".charts"), sandwich: at("sandwich"), cosine: at("cosine"), distance: at("distance") });
  drawSpace(model, lab.view);
  at("certificate").disabled = !lab.run.certificate;
  at("certificate").setAttribute("aria-pressed", String(lab.certificateShown));
  at("certificate").textContent = lab.certificateShown ? "Hide" : lab.run.certificate?.widest ? "Show band" : "Show why";
  Object.assign(at("step"), { max: total, value: lab.step });
  at("count").textContent = lab.step ? `${lab.step} of ${total}, epoch ${lab.run.steps.epoch[lab.step - 1]}` : `${total} ${total === 1 ? "step" : "steps"}`;
  for (const id of ["first", "back"]) at(id).disabled = lab.step === 0;
  for (const id of ["forward", "last"]) at(id).disabled = lab.step === total;
  if (!stale) document.body.dataset.ready = `${lab.step}`;
}

function drawTicks() {
  const { row, mistake } = lab.run.steps;
  at("ticks").setAttribute("viewBox", `0 0 ${Math.max(1, row.length)} 10`);
  const width = Math.max(row.length / 700, 0.12);
  at("ticks").replaceChildren(...row.flatMap((point, i) => (mistake[i]
    ? [element("rect", { x: i + 1 - width / 2, y: 0, width, height: 10, class: lab.run.labels[point] > 0 ? "red" : "blue" })] : [])));
}

// -- steps ------------------------------------------------------------------------------------------------------------

let playing = false;

function go(step) {
  if (!lab.run) return Promise.resolve();
  const next = Math.max(0, Math.min(lab.run.steps.row.length, step));
  if (next === lab.step) return Promise.resolve();
  lab.step = next;
  delete document.body.dataset.ready;
  return show().catch((error) => toast(error.message));
}

function toMistake(way) {
  const { mistake } = lab.run.steps;
  let step = lab.step + way;
  while (step > 0 && step < mistake.length && !mistake[step - 1]) step += way;
  return go(step);
}

async function play() {
  playing = !playing;
  at("play-icon").setAttribute("d", playing ? PAUSE : PLAY);
  at("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  if (!playing) return;
  if (lab.step === lab.run.steps.row.length) await go(0);
  while (playing && lab.step < lab.run.steps.row.length) {
    const wait = new Promise((resume) => { setTimeout(resume, Number(at("speed").value)); });
    await go(lab.step + 1);
    await wait;
  }
  if (playing) play();
}

// -- scenes, links ----------------------------------------------------------------------------------------------------

/** What undo returns to. */
function keep() {
  const { state, scene, sample, lookFor } = lab;
  lab.undone.push(JSON.stringify({ state, scene, sample, lookFor }));
}

function load(state, { scene = "custom", step = 0, lookFor = "", sample = null } = {}) {
  if (lab.shown) keep();
  lab.state = { ...structuredClone(DEFAULTS), ...structuredClone(state) };
  Object.assign(lab, { scene, step, lookFor, sample, certificateShown: false, selected: null });
  at("scene").value = scene;
  showSample(lab.sample);
  return refresh();
}

function custom() {
  Object.assign(lab, { lookFor: "", scene: "custom", sample: null });
  at("scene").value = "custom";
  showSample(lab.sample);
}

let remembering = 0;

function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(writeLink, 150);
}

function writeLink() {
  const own = lab.known.find(({ name }) => name === lab.scene)?.state;
  history.replaceState(null, "", `#${asFragment(lab, own && { ...DEFAULTS, ...own })}`);
}

function fit() {
  const { points } = lab.state;
  if (!points.length) lab.state.view = [0, 0, 3];
  else {
    const [xs, ys] = [points.map((p) => p[0]), points.map((p) => p[1])];
    const middle = (values) => (Math.min(...values, 0) + Math.max(...values, 0)) / 2;
    const reach = Math.max(...ys, 0) - Math.min(...ys, 0);
    const wide = Math.max(...xs, 0) - Math.min(...xs, 0);
    lab.state.view = [middle(xs), middle(ys), Math.max(0.6 * Math.max(reach, (wide * 3) / 4), 1e-6)];
  }
  return refresh();
}

// -- wiring -----------------------------------------------------------------------------------------------------------

const KEYS = {
  ArrowRight: (event) => (event.shiftKey ? toMistake(1) : go(lab.step + 1)),
  ArrowLeft: (event) => (event.shiftKey ? toMistake(-1) : go(lab.step - 1)),
  Home: () => go(0),
  End: () => go(Infinity),
  " ": () => play(),
  1: () => choose(1),
  2: () => choose(-1),
  3: () => choose(0),
  c: () => toggleCertificate(),
  f: () => fit(),
  n: () => newPoint(),
  "?": () => at("help-button").click(),
};

function choose(tool) {
  lab.tool = tool;
  document.querySelector(`#tools input[value="${tool}"]`).checked = true;
}

function toggleCertificate() {
  lab.certificateShown = !lab.certificateShown && Boolean(lab.run?.certificate);
  draw();
}

function newPoint() {
  if (!lab.roomForMore()) return;
  lab.edit((points) => points.push([lab.state.view[0], lab.state.view[1], lab.tool || 1]));
  plane.querySelector(`.point[data-row="${lab.state.points.length - 1}"]`)?.focus();
}

function undo() {
  const before = lab.undone.pop();
  if (before === undefined) return;
  Object.assign(lab, JSON.parse(before), { selected: null });
  at("scene").value = lab.scene;
  showSample(lab.sample);
  refresh();
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not(#step):not([type=radio]), select");
  if (typing) return;
  if (!isStatic && (event.ctrlKey || event.metaKey) && event.key === "z") undo();
  if (event.ctrlKey || event.metaKey || event.altKey || (!isStatic && editByKey(event, lab))) return;
  const radio = event.target.matches?.("input[type=radio]") && event.key.startsWith("Arrow");
  const pressed = event.target.matches?.("button") && event.key === " ";
  const action = isStatic && "123nf".includes(event.key.toLowerCase()) ? null : KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (!action || radio || pressed || !lab.run) return;
  event.preventDefault();
  action(event);
});

// After a click, keys belong to the page again: space plays, and arrows step.
document.addEventListener("click", ({ detail }) => {
  const focused = document.activeElement;
  if (detail > 0 && focused?.matches("button, input[type=radio], input[type=range]")) focused.blur();
});

function wire() {
  const { known } = lab;
  const closePanels = makePanels();
  at("scene").replaceChildren(
    ...known.map((scene) => new Option(scene.title, scene.name)),
    ...(isStatic ? [] : [new Option("Your own points", "custom")]),
    new Option("Tiny margins, cars, rescaling →", "margins.html"), new Option("Four points, and what shapes cut out →", "shattering.html"),
  );
  at("scene").addEventListener("change", ({ target }) => {
    if (target.value.endsWith(".html")) location.href = target.value;
    if (known.some(({ name }) => name === target.value)) loadScene(target.value);
    target.blur();
  });
  if (!isStatic) makeEditable(plane, lab);
  listenToRules((change) => { Object.assign(lab.state, change); refresh(); });
  at("reshuffle").addEventListener("click", () => { Object.assign(lab.state, { shuffle: true, seed: lab.state.seed + 1 }); refresh(); });
  at("tools").addEventListener("change", ({ target }) => choose(Number(target.value)));
  for (const [id, action] of Object.entries({
    first: () => go(0), back: () => go(lab.step - 1), play, forward: () => go(lab.step + 1), last: () => go(Infinity), certificate: toggleCertificate,
  })) at(id).addEventListener("click", action);
  at("step").addEventListener("input", ({ target }) => go(Number(target.value)));
  makeSample(lab, () => { lab.step = 0; return refresh(); }, complain);
  document.querySelector("#space .tabs").addEventListener("click", ({ target }) => {
    if (target.dataset.view) Object.assign(lab, { view: target.dataset.view });
    draw();
  });
  makeTurnable(at("weights"), isSolid, draw);
  at("share").addEventListener("click", ({ target }) => {
    const kind = target.closest("button")?.dataset.take;
    if (kind === "link") copyLink();
    else if (kind) download(kind, lab, plane).catch(complain);
    closePanels();
  });
  new ResizeObserver(() => draw()).observe(document.querySelector("main"));
  window.addEventListener("hashchange", open);
}

async function copyLink() {
  writeLink();
  await navigator.clipboard.writeText(location.href).then(() => toast("The link is copied: it holds the whole scene."), () => toast("The link is in the address bar."));
}

function loadScene(name, more = {}) {
  const scene = lab.known.find((one) => one.name === name) ?? lab.known[0];
  return load({ ...scene.state, ...more.state }, { scene: scene.name, lookFor: scene.look_for, sample: scene.sample ?? null, ...more });
}

/** What the link names; a broken one shows the first scene. */
function open() {
  const { scene, step, sample, state } = fromFragment(location.hash.slice(1));
  const known = lab.known.some(({ name }) => name === scene);
  if (isStatic && !sample) return loadScene(scene, { step });
  if (state && !known) return load(state, { step });
  return loadScene(scene, { step: known ? step : 0, ...(sample && known ? { sample } : {}), ...(state ? { state } : {}) });
}

async function begin() {
  followTheme(at("theme"), draw);
  const { scenes: known, limits, readouts, lead, symbols } = await scenes();
  Object.assign(lab, { known, limits, readouts, leadWords: lead });
  nameRules(readouts, lead);
  explainTerms(symbols);
  wire();
  await open();
}

begin().catch(complain);
