// The connection: it comes back by itself, and asks for the token when the service wants one.

import { Problem, changes, keepToken } from "./api.js";
import { at } from "./node.js";

const WORDS = { connecting: "connecting", live: "live", lost: "no connection, trying again", token: "waiting for the token", paused: "paused" };
const [SHORTEST, LONGEST] = [500, 10_000]; // milliseconds between attempts

/** Tell `onChanges` what changes, again and again; `isFirst` is said of the message that has all models. */
export async function follow(onChanges) {
  let wait = SHORTEST;
  for (;;) {
    let isFirst = true;
    if (document.hidden) await toBeSeen();
    try {
      for await (const message of changes()) {
        say("live");
        wait = SHORTEST;
        queueMicrotask(onChanges.bind(null, message, isFirst)); // its errors are not the connection's
        isFirst = false;
      }
      say("lost");
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 401) {
        await askForToken();
        continue;
      }
      say("lost", problem instanceof Problem && problem.status ? problem.message : null);
    }
    if (!document.hidden) await pause(wait);
    wait = Math.min(2 * wait, LONGEST);
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
