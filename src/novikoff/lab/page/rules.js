// The rules: which boundary, bias, ties, order, read-out; and the panels that open below their buttons.

const TRUTHS = ["fit_intercept", "shuffle"];
const CHOICES = ["space", "tie", "readout", ...TRUTHS];
const SWITCHES = ["fold_labels", "unit_length"];
const NUMBERS = ["degree", "gamma", "max_iter", "lead"];

export function nameRules(readouts, lead) {
  for (const [name, called] of Object.entries(readouts)) {
    document.querySelector(`#rules input[name="readout"][value="${name}"] + span`).textContent = called;
  }
  for (const place of ["before", "after"]) document.getElementById(`lead-${place}`).textContent = lead[place];
}

export function showRules(state) {
  for (const name of CHOICES) {
    const chosen = document.querySelector(`#rules input[name="${name}"][value="${state[name]}"]`);
    if (chosen) chosen.checked = true;
  }
  for (const name of NUMBERS) document.getElementById(name).value = state[name];
  const possible = { fold_labels: state.space === "line" && !state.fit_intercept, unit_length: !["poly", "rbf"].includes(state.space) };
  for (const name of SWITCHES) {
    const input = document.querySelector(`#rules input[name="${name}"]`);
    Object.assign(input, { checked: state[name] && possible[name], disabled: !possible[name] });
  }
  for (const input of document.querySelectorAll('#rules input[name="fit_intercept"]')) input.disabled = state.space === "rbf";
  for (const input of document.querySelectorAll('#rules input[name="tie"]')) input.disabled = state.lead > 0;
  document.getElementById("rules-summary").textContent = summary(state);
}

function summary(state) {
  const boundary = { line: state.fit_intercept ? "line" : "line through 0", circle: "circle", poly: "polynomial", rbf: "Gaussian" }[state.space];
  const readout = { last: "", all: " · three read-outs" }[state.readout] ?? ` · ${state.readout}`;
  const simpler = `${state.fold_labels ? " · folded" : ""}${state.unit_length ? " · unit length" : ""}`;
  const lead = state.lead > 0 ? ` · lead ${state.lead}` : "";
  return `${boundary}${simpler}${lead}${state.shuffle ? " · shuffled" : ""}${readout}`;
}

export function listenToRules(change) {
  document.getElementById("rules").addEventListener("change", ({ target }) => {
    if (CHOICES.includes(target.name)) change({ [target.name]: TRUTHS.includes(target.name) ? target.value === "true" : target.value });
    else if (SWITCHES.includes(target.name)) change({ [target.name]: target.checked });
    else if (NUMBERS.includes(target.id) && target.value) change({ [target.id]: Number(target.value) });
  });
}

/** Panels open below their button, one at a time, and close with Escape or a click elsewhere. */
export function makePanels() {
  const buttons = [...document.querySelectorAll("header button[aria-controls]")];
  const panelOf = (button) => document.getElementById(button.getAttribute("aria-controls"));
  const set = (button, open) => {
    panelOf(button).hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  };
  for (const button of buttons) {
    button.addEventListener("click", () => buttons.forEach((other) => set(other, other === button && panelOf(button).hidden)));
  }
  const close = () => buttons.forEach((button) => set(button, false));
  document.addEventListener("pointerdown", ({ target }) => {
    if (!target.closest(".popover") && !target.closest("header button[aria-controls]")) close();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    const open = buttons.find((button) => !panelOf(button).hidden);
    close();
    open?.focus();
  });
  return close;
}
