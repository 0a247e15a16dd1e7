// Questions to the service, with its token, and the stream of what changes.

const SILENCE = 40_000; // milliseconds; the service says something every 15 seconds

export class Problem extends Error {
  constructor(message, status, field) {
    super(message);
    Object.assign(this, { status, field });
  }
}

export function keepToken(token) {
  sessionStorage.setItem("token", token);
}

function headers(more = {}) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/** The answer to a GET, or to a POST if there is a body. */
export async function ask(path, body) {
  const how = body === undefined ? { headers: headers() }
    : { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body) };
  return read(await send(path, how));
}

async function send(path, how) {
  try {
    return await fetch(path, how);
  } catch {
    throw new Problem("The service cannot be reached.", 0, null);
  }
}

async function read(answer) {
  const reply = await answer.json().catch(() => ({ error: { message: "The service gave no answer that can be read." } }));
  if (!answer.ok || reply.error) throw new Problem(reply.error?.message ?? `The service answered ${answer.status}.`, answer.status, reply.error?.field ?? null);
  return reply;
}

/**
 * What changes, message by message, until the connection ends or falls silent, or nobody looks: a browser has few
 * connections for all tabs together. EventSource could not send a token.
 */
export async function* changes() {
  const silence = new AbortController();
  document.addEventListener("visibilitychange", () => document.hidden && silence.abort(), { signal: silence.signal });
  let timer = 0;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE);
  };
  heard();
  try {
    const answer = await send("v1/events", { headers: headers(), signal: silence.signal });
    if (!answer.ok) await read(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const messages = (text + value).split("\n\n");
      text = messages.pop();
      for (const message of messages) {
        const data = message.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (data) yield JSON.parse(data);
      }
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
