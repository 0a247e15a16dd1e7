// Runs before the page is painted. Light or dark as the system has it, until the reader presses the button.
const preference = matchMedia("(prefers-color-scheme: dark)");

function kept(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null; // a browser may refuse to keep anything, for files on the disk
  }
}

function paint() {
  document.documentElement.dataset.theme = kept("theme") ?? (preference.matches ? "dark" : "light");
}

preference.addEventListener("change", paint);
paint();
