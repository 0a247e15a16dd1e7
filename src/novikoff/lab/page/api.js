// Questions to the library. All mathematics is behind these calls.

export async function ask(name, question) {
  const answer = await fetch(`api/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(question),
  });
  return read(answer);
}

export async function scenes() {
  return read(await fetch("api/scenes"));
}

async function read(answer) {
  const reply = await answer.json().catch(() => ({ error: { message: "the lab gave no answer that can be read" } }));
  if (reply.error) throw new Error(reply.error.message);
  return reply;
}
