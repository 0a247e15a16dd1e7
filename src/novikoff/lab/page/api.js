// Questions to the library. All mathematics is behind these calls, or was, when the page was written to be read without one.

/** Whether there is no library to ask: then only what was asked beforehand can be shown. */
export const isStatic = document.documentElement.classList.contains("static");

export async function ask(name, question) {
  if (isStatic) return recall(name, question);
  const answer = await fetch(`api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  return read(answer);
}

export async function scenes() {
  return isStatic ? load("known") : read(await fetch("api/scenes"));
}

async function read(answer) {
  const reply = await answer.json().catch(() => ({ error: { message: "the lab gave no answer that can be read" } }));
  if (reply.error) throw new Error(reply.error.message);
  return reply;
}

// -- answers from files ---------------------------------------------------------------------------------------------

const loading = new Map();
const arrived = new Map();
globalThis.answered = (name, answers) => arrived.set(name, answers);

/** Files of answers are scripts, which also load from a disk. */
function load(name) {
  if (!loading.has(name)) {
    loading.set(name, new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: `answers/${name}.js` });
      script.onload = () => resolve(arrived.get(name));
      script.onerror = () => reject(new Error(`answers/${name}.js is missing`));
      document.head.append(script);
    }));
  }
  return loading.get(name);
}

async function recall(name, { scene, step, n, family, noise, sample }) {
  if (name === "margins") return load(`margins-${scene}-${scene === "chain" ? n : 2}`);
  if (name === "shattering") return load(`shattering-${scene}-${family}`);
  const percent = Math.round(100 * (sample?.noise ?? noise ?? 0));
  const answers = await load(sample || noise !== undefined ? `scene-sample-${percent}` : `scene-${scene}`);
  return name === "moment" ? { step, ...answers.moments[answers.at[step]] } : answers[name];
}
