// The API, from its own description: each request with what it takes and answers, then the types.

import { Problem, ask, keepToken } from "./api.js";
import { at, node } from "./node.js";

const named = (schema) => schema.$ref.split("/").pop();

/** A type in a few words; a type of its own is a link. */
function kind(schema) {
  if (schema.$ref) return [node("a", { href: `#${named(schema)}` }, named(schema))];
  if (schema.anyOf) return schema.anyOf.flatMap((part, i) => (i ? [" or ", ...kind(part)] : kind(part)));
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" or ")];
  if (schema.type === "array") return ["list of ", ...(schema.items ? kind(schema.items) : ["anything"])];
  const inside = schema.additionalProperties;
  if (schema.type === "object" && inside && Object.keys(inside).length) return ["object of ", ...kind(inside)];
  return [schema.type ?? "anything"];
}

function operation(method, path, about) {
  const lines = about.parameters.filter((each) => each.in !== "path").map((each) => [`${each.in} `, node("code", {}, each.name), `: ${each.description}`]);
  const body = about.requestBody?.content ?? {};
  if (body["application/json"]) {
    lines.push(["takes ", ...kind(body["application/json"].schema), body["application/x-ndjson"] ? ", or many, one a line" : ""]);
  }
  for (const [status, answer] of Object.entries(about.responses)) {
    if (status !== "default") lines.push([`${status}: `, ...Object.entries(answer.content ?? {}).slice(0, 1).flatMap(([media, { schema }]) => (media === "application/json" ? kind(schema) : [media]))]);
  }
  return node("section", { class: "operation" }, node("h3", {}, node("code", {}, `${method.toUpperCase()} ${path}`)),
    node("p", {}, about.summary), node("ul", {}, ...lines.map((line) => node("li", {}, ...line))));
}

function type(name, schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([field, about]) => node("tr", {}, node("td", {}, node("code", {}, field)),
    node("td", {}, ...kind(about)), node("td", {}, schema.required?.includes(field) ? "required" : JSON.stringify(about.default ?? null))));
  return node("section", { id: name }, node("h3", {}, name), node("p", {}, schema.description ?? ""),
    node("table", {}, node("tr", {}, node("th", {}, "field"), node("th", {}, "type"), node("th", {}, "default")), ...rows));
}

/** Ask for the token until it is right. */
async function description() {
  for (;;) {
    try {
      return await ask("openapi.json");
    } catch (problem) {
      const token = problem instanceof Problem && problem.status === 401 ? prompt("The token of the service") : null;
      if (token === null) throw problem;
      keepToken(token);
    }
  }
}

try {
  const api = await description();
  const requests = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, about]) => operation(method, path, about)));
  const types = Object.entries(api.components.schemas).sort().map(([name, schema]) => type(name, schema));
  at("docs").append(node("article", {}, node("h2", {}, "Requests"), ...requests, node("h2", {}, "Types"), ...types));
} catch (problem) {
  at("state").textContent = problem.message;
}

document.body.dataset.ready = "";
