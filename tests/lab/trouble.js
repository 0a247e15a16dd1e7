() => {
  // Every control that is shown: scrolled into view, is it there, whole, and on top? And does anything stick out of its box?
  const found = [], width = document.documentElement.clientWidth, high = window.innerHeight;
  const name = (e) => e.id || e.getAttribute("aria-label") || e.className?.baseVal || e.className || e.tagName;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const shown = (e) => e.checkVisibility({ opacityProperty: false }) && e.getClientRects().length;
  for (const control of document.querySelectorAll("button, select, input, a, .term, svg[role], .corner, .point")) {
    if (!shown(control) || control.closest(".segments input")) continue;
    control.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = control.getBoundingClientRect();
    if (box.width < 8 || box.height < 8) { found.push(`${name(control)} is ${box.width} x ${box.height}`); continue; }
    const svg = control.closest("svg") ?? control;
    if (control.matches(".point, .corner")) continue;
    if (box.left < -0.5 || box.right > width + 0.5) found.push(`${name(control)} is cut: ${box.left} to ${box.right} of ${width}`);
    if (box.height < high && (box.top < -0.5 || box.bottom > high + 0.5)) found.push(`${name(control)} cannot be scrolled to`);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, high / 4));
    if (!(control.contains(top) || top?.contains(control) || top?.closest("label")?.contains(control))) found.push(`${name(control)} is covered by ${top && name(top)}`);
  }
  for (const box of document.querySelectorAll("header, .card, #say, #sandwich-numbers, #transport, #subsets button, .segments, .pages")) {
    if (!shown(box)) continue;
    if (box.scrollWidth > box.clientWidth + 1) found.push(`${name(box)} holds ${box.scrollWidth} in ${box.clientWidth}`);
    const own = box.getBoundingClientRect();
    for (const child of box.querySelectorAll("*")) {
      const rect = child.getBoundingClientRect();
      if (!shown(child) || !rect.width || child.closest("svg") || child.closest(".popover, .visually-hidden") || getComputedStyle(child).position === "fixed") continue;
      if (child.matches(".segments input")) continue;
      if (rect.right > own.right + 1.5 || rect.bottom > own.bottom + 1.5) found.push(`${name(child)} leaves ${name(box)}`);
    }
  }
  for (const label of document.querySelectorAll("svg text")) {
    const [own, svg] = [label.getBoundingClientRect(), label.closest("svg").getBoundingClientRect()];
    if (!own.width || label.closest("#plane, #points")) continue;
    if (own.left < svg.left - 1.5 || own.right > svg.right + 1.5) found.push(`the words ${label.textContent} are cut`);
  }
  const slider = document.getElementById("step")?.getBoundingClientRect();
  if (slider && slider.width < 120) found.push(`the slider is ${slider.width} wide`);
  window.scrollTo(0, 0);
  return found;
}
