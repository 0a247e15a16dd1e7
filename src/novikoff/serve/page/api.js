// Questions to the service, with its token.

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
