// Search in an index that is a script, so that it works from a folder on the disk as well as from a server.
{
  const root = document.body.dataset.root;
  const form = document.querySelector("form.search");
  const input = form.querySelector("input");
  const list = document.getElementById("found");
  const MOST = 12;

  let loading = null;
  function index() {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${root}/search/index.js`;
      script.onload = () => resolve(window.SEARCH_INDEX);
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  }

  // Every word must occur; a word in a title counts more, and most of all a title that has them all in a row.
  function score(section, words) {
    let total = 0;
    for (const word of words) {
      const inTitle = section.lowerTitle.indexOf(word);
      const inText = section.lowerText.split(word).length - 1;
      if (inTitle < 0 && inText === 0) return 0;
      total += Math.min(inText, 5);
      if (inTitle >= 0) total += 25;
    }
    const title = section.lowerTitle.replaceAll("_", " ");
    const phrase = words.join(" ").replaceAll("_", " ");
    if (title.includes(phrase)) total += title === phrase ? 80 : 40;
    return total;
  }

  function excerpt(text, word) {
    const place = Math.max(text.toLowerCase().indexOf(word), 0);
    const start = Math.max(text.lastIndexOf(" ", place - 50), 0);
    return `${start ? "… " : ""}${text.slice(start, start + 160).trim()} …`;
  }

  async function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const sections = words.length ? await index() : [];
    const asked = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (asked.join(" ") !== words.join(" ")) return;
    const found = sections.map((section) => [score(section, words), section]).filter(([points]) => points > 0);
    found.sort(([a], [b]) => b - a);
    list.replaceChildren(...found.slice(0, MOST).map(([, section]) => entry(section, words[0])));
    if (words.length && !found.length) {
      const nothing = document.createElement("li");
      nothing.textContent = "Nothing found.";
      list.append(nothing);
    }
    list.hidden = !words.length;
  }

  function entry(section, word) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${root}/${section.location}`;
    const title = document.createElement("strong");
    title.textContent = section.title;
    const text = document.createElement("span");
    text.textContent = excerpt(section.text, word);
    link.append(title, text);
    item.append(link);
    return item;
  }

  input.addEventListener("focus", index);
  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("keydown", (event) => {
    const stops = [input, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.blur();
    }
  });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) list.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
}
