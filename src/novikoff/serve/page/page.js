// The page: which model is shown, and when it is asked for anew.

import { ask } from "./api.js";
import { showDrift } from "./beside.js";
import { inOrder, showModels } from "./list.js";
import { follow } from "./live.js";
import { at } from "./node.js";
import { TINY, showRecord } from "./record.js";
import { written } from "./shared/svg.js";
import { followTheme } from "./shared/theme.js";
import { clearTryBox, makeTryBox, suggest } from "./try.js";
import { forgetClass, onClass, showWeights } from "./weights.js";

const TOP = 12;
const DECADES = 2; // the slider goes from a hundredth of the largest possible margin up to it

const page = { models: new Map(), isTold: false, selected: null, shown: null, margin: null };

// -- which models there are -----------------------------------------------------------------------------------------

function onFigures(models) {
  const before = page.models.get(page.selected);
  page.models = new Map(models.map(({ name, figures }) => [name, figures]));
  const isChanged = !page.isTold || JSON.stringify(before) !== JSON.stringify(page.models.get(page.selected));
  page.isTold = true;
  if (isChanged || page.selected === null) select();
  else showModels(page.models, page.selected);
}

/** Show the model that the address names, or the first one. */
function select() {
  if (!page.isTold) return;
  const named = nameInAddress();
  const name = named ?? inOrder(page.models)[0] ?? null;
  if (name !== page.selected) {
    Object.assign(page, { selected: name, shown: null, margin: null });
    forgetClass();
    clearTryBox();
  }
  showModels(page.models, name);
  refresh();
}

function nameInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1)) || null;
  } catch {
    return location.hash.slice(1);
  }
}

// -- the model that is shown, the latest question first ---------------------------------------------------------------

let asking = null;
let stale = false;

function refresh() {
  stale = true;
  delete document.body.dataset.ready;
  asking ??= askAgain().finally(() => { asking = null; });
}

async function askAgain() {
  while (stale) {
    stale = false;
    const { selected, margin } = page;
    const problem = selected === null || !page.models.has(selected) ? missing(selected) : await load(selected, margin).catch((error) => error.message);
    at("model").hidden = !page.shown;
    at("nothing").hidden = Boolean(page.shown);
    at("nothing").textContent = page.shown ? "" : problem;
    if (page.shown) draw();
    if (!stale) document.body.dataset.ready = page.shown ? page.shown.record.seq : "nothing";
  }
}

function missing(name) {
  page.shown = null;
  return name === null ? "There is no model yet. PUT /v1/models/NAME creates one, and it appears here." : `There is no model ${name}.`;
}

async function load(name, margin) {
  const path = `v1/models/${encodeURIComponent(name)}`;
  const query = margin === null ? "" : `?margin=${encodeURIComponent(margin)}`;
  const [about, record, weights] = await Promise.all([ask(path), ask(`${path}/record${query}`), ask(`${path}/weights?top=${TOP}`)]);
  if (name === page.selected) page.shown = { about, record, weights };
}

function draw() {
  if (!page.shown) return;
  const { about, record, weights } = page.shown;
  showRecord(about, record);
  showMargin(record);
  showWeights(about.classes, weights);
  suggest(weights);
  showDrift(record.drift);
}

// -- the margin that the reader chooses -------------------------------------------------------------------------------

function showMargin({ bound, margin_at_most: most }) {
  const isNamed = bound !== null && most >= TINY;
  at("margin-row").hidden = !isNamed;
  if (!isNamed) return;
  if (document.activeElement !== at("margin")) at("margin").value = written(bound.margin, 1).replace("−", "-").replaceAll(",", "");
  const share = page.margin === null ? 1 : 1 + Math.log10(page.margin / most) / DECADES;
  if (document.activeElement !== at("margin-slider")) at("margin-slider").value = Math.round(100 * share);
}

function chooseMargin(words) {
  const margin = words.trim() ? Number(words.replace(",", ".")) : null;
  const isGood = margin === null || (margin >= 1e-300 && margin <= 1e300);
  at("margin-problem").textContent = isGood ? "" : "The margin must be a positive number.";
  at("margin").setAttribute("aria-invalid", String(!isGood));
  if (!isGood) return;
  page.margin = margin;
  refresh();
}

function slideMargin(percent) {
  const most = page.shown?.record.margin_at_most;
  if (!most) return;
  chooseMargin(percent === 100 ? "" : String(most * 10 ** (DECADES * (percent / 100 - 1))));
}

// -- wiring -----------------------------------------------------------------------------------------------------------

followTheme(at("theme"), draw);
makeTryBox(() => page.selected);
onClass(draw);
at("margin").addEventListener("input", ({ target }) => chooseMargin(target.value));
at("margin").addEventListener("blur", draw);
at("margin-slider").addEventListener("input", ({ target }) => slideMargin(Number(target.value)));
new ResizeObserver(draw).observe(at("model"));
window.addEventListener("hashchange", select);
follow(onFigures);
