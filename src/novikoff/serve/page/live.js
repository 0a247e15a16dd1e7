// The connection: the figures of all models, again and again. It asks for the token when the service wants one.

import { Problem, ask, keepToken } from "./api.js";
import { at } from "./node.js";

const WORDS = { connecting: "connecting", live: "live", lost: "no connection, trying again", token: "waiting for the token", paused: "paused" };
const [SHORTEST, LONGEST] = [1000, 10_000]; // milliseconds between questions
const SHARE = 0.1; // of the time may go into answers

/** Tell `onFigures` the figures of all models, again and again while somebody looks. */
export async function follow(onFigures) {
  let wait = SHORTEST;
  for (;;) {
    if (document.hidden) await toBeSeen();
    const asked = performance.now();
    try {
      const { models } = await ask("v1/figures");
      say("live");
      wait = Math.max(SHORTEST, (performance.now() - asked) / SHARE);
      queueMicrotask(onFigures.bind(null, models)); // its errors are not the connection's
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) {
        await askForToken();
        continue;
      }
      say("lost", problem instanceof Problem && problem.status ? problem.message : null);
      wait = Math.min(2 * wait, LONGEST);
    }
    if (!document.hidden) await pause(wait);
  }
}

function say(state, more = null) {
  const words = more === null ? WORDS[state] : `${WORDS[state]}: ${more}`;
  if (at("connection").textContent !== words) at("connection").textContent = words;
  at("connection").dataset.state = state;
}

function toBeSeen() {
  say("paused");
  return new Promise((resume) => { document.addEventListener("visibilitychange", resume, { once: true }); });
}

/** Wait, but not when the network or the reader comes back. */
function pause(milliseconds) {
  return new Promise((resume) => {
    setTimeout(resume, milliseconds);
    window.addEventListener("online", resume, { once: true });
    document.addEventListener("visibilitychange", resume, { once: true });
  });
}

let asked = false;

function askForToken() {
  const [dialog, input] = [at("token-dialog"), at("token")];
  say("token");
  at("token-problem").textContent = asked ? "That is not the token of this service." : "";
  asked = true;
  input.value = "";
  dialog.showModal();
  document.body.dataset.ready = "token";
  return new Promise((resume) => {
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      keepToken(input.value.trim());
      input.value = "";
      delete document.body.dataset.ready;
      say("connecting");
      resume();
    }, { once: true });
  });
}
