// What the letters mean: on hover, on focus and on touch.

const card = document.getElementById("term");
let known = {};

/** A letter that explains itself. */
export function term(name, words = known[name]?.symbol ?? name) {
  return `<span class="term" tabindex="0" role="button" data-term="${name}">${words}</span>`;
}

export function explainTerms(symbols) {
  known = symbols;
  document.querySelector("#symbols span").innerHTML = Object.keys(symbols).map((name) => term(name)).join(" ");
  const explained = ({ target }) => target.closest?.(".term");
  for (const event of ["pointerover", "focusin", "click"]) {
    document.addEventListener(event, (happened) => {
      const at = explained(happened);
      if (at) show(at);
      else if (event === "click") hide();
    });
  }
  document.addEventListener("pointerout", (event) => { if (explained(event) && event.pointerType === "mouse") hide(); });
  document.addEventListener("focusout", (event) => { if (explained(event)) hide(); });
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { passive: true });
}

function show(at) {
  const { symbol, called, words } = known[at.dataset.term];
  card.innerHTML = `<b><i>${symbol}</i>, ${called}.</b> ${words}`;
  card.hidden = false;
  at.setAttribute("aria-describedby", "term");
  const [place, size] = [at.getBoundingClientRect(), card.getBoundingClientRect()];
  const room = document.documentElement.clientWidth - size.width - 8;
  const above = place.top - size.height - 8;
  card.style.left = `${Math.max(8, Math.min(room, place.left + place.width / 2 - size.width / 2))}px`;
  card.style.top = `${above > 8 ? above : place.bottom + 8}px`;
}

function hide() {
  card.hidden = true;
}
