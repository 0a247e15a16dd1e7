// Random points: how many, and how many of their labels are wrong.

import { ask, isStatic } from "./api.js";

const at = (id) => document.getElementById(id);

export function showSample(sample) {
  at("sample").hidden = !sample;
  if (!sample) return;
  const percent = Math.round(100 * sample.noise);
  at("sample-count").value = sample.count;
  at("sample-noise").value = percent;
  at("sample-count-shown").textContent = sample.count;
  at("sample-noise-shown").textContent = `${percent} %`;
}

// Without a library there are the noises of some tens of percent.
const TENS = { step: 10, max: 30 };

export function makeSample(lab, refresh, complain) {
  if (isStatic) Object.assign(at("sample-noise"), TENS);
  /** Other random points; the newest wish counts. */
  const resample = async (change) => {
    lab.sample = { ...lab.sample, ...change };
    showSample(lab.sample);
    const asked = lab.sample;
    delete document.body.dataset.ready;
    const { points } = await ask("sample", asked);
    if (asked !== lab.sample) return;
    lab.state.points = points;
    await refresh();
  };
  const on = (id, event, change) => at(id).addEventListener(event, ({ target }) => resample(change(target)).catch(complain));
  on("sample-count", "input", ({ value }) => ({ count: Number(value) }));
  on("sample-noise", "input", ({ value }) => ({ noise: Number(value) / 100 }));
  on("resample", "click", () => ({ seed: lab.sample.seed + 1 }));
}
