// Formulas, the buttons of the header, and a button to copy each block of code.

for (const formula of document.querySelectorAll(".arithmatex")) {
  const display = formula.tagName === "DIV";
  const tex = formula.textContent.trim().replace(/^\\[[(]|\\[\])]$/g, "");
  katex.render(tex, formula, { displayMode: display, throwOnError: true });
}

document.querySelector("button.theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  if (kept("theme", next) !== next) document.documentElement.dataset.theme = next;
  else paint();
});

const menu = document.querySelector("button.menu");
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("menu-open");
  menu.setAttribute("aria-expanded", String(open));
});

document.querySelector('#pages [aria-current="page"]')?.scrollIntoView({ block: "center" });
window.scrollTo(0, 0);
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();

// A session is copied without its prompts and its output, so that it can be pasted and run.
function source(text) {
  const lines = text.trimEnd().split("\n");
  if (!lines.some((line) => /^(>>> |\$ )/.test(line))) return `${lines.join("\n")}\n`;
  return lines.filter((line) => /^(>>>|\.\.\.|\$)( |$)/.test(line)).map((line) => `${line.replace(/^(>>>|\.\.\.|\$) ?/, "")}\n`).join("");
}

for (const block of document.querySelectorAll("article pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source(block.querySelector("code").textContent));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}

document.body.dataset.ready = "";
