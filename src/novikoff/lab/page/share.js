// A scene as a link, and as files to take away.

import { ask } from "./api.js";

/**
 * The scene as the fragment of a link, which depends on no port: its name and the step, and the state where it is no longer the scene's own,
 * as JSON in base64 in the letters that a link may have.
 */
export function asFragment({ scene, step, sample, state }, ownState) {
  const parts = new URLSearchParams({ scene, step });
  if (sample) parts.set("sample", [sample.count, sample.noise, sample.seed].join(" "));
  if (JSON.stringify(state) !== JSON.stringify(ownState)) parts.set("state", inLetters(JSON.stringify(state)));
  return parts.toString();
}

export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment);
  const [count, noise, seed] = (parts.get("sample") ?? "").split(" ").map(Number);
  const step = Number(parts.get("step"));
  return {
    scene: parts.get("scene"),
    step: Number.isInteger(step) && step > 0 ? step : 0,
    sample: count ? { count, noise, seed } : null,
    state: parts.has("state") ? read(parts.get("state")) : null,
  };
}

function inLetters(words) {
  const bytes = new TextEncoder().encode(words);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function read(letters) {
  try {
    const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return Array.isArray(state.points) ? state : null;
  } catch {
    return null;
  }
}

export async function download(kind, model, svg) {
  if (kind === "svg") return save("scene.svg", "image/svg+xml", standalone(svg));
  const files = await ask("take-away", { state: model.state, scene: model.scene, sample: model.sample });
  if (kind === "csv") return save("scene.csv", "text/csv", files.csv);
  return save("scene.py", "text/x-python", files.script);
}

function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const PROPERTIES = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
  "stroke-opacity", "opacity", "font-family", "font-size", "font-style", "font-weight", "paint-order", "text-anchor"];

/** The drawing with its styles written into its elements, so that it looks the same without the page. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const property of PROPERTIES) element.setAttribute(property, style.getPropertyValue(property));
    for (const name of ["class", "tabindex", "role", "data-row"]) element.removeAttribute(name);
  });
  const { width, height } = svg.getBoundingClientRect();
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [key, value] of Object.entries({ width, height, fill: getComputedStyle(svg).backgroundColor })) paper.setAttribute(key, value);
  copy.prepend(paper);
  for (const name of ["id", "class", "role", "tabindex"]) copy.removeAttribute(name);
  for (const [key, value] of Object.entries({ width, height, xmlns: "http://www.w3.org/2000/svg" })) copy.setAttribute(key, value);
  return new XMLSerializer().serializeToString(copy);
}
