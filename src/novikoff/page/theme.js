// Light or dark: as the system has it, until the reader presses the button.

export function followTheme(button, repaint) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = (theme) => {
    document.documentElement.dataset.theme = theme;
    repaint();
  };
  const asChosen = () => paint(localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", asChosen);
  button.addEventListener("click", () => {
    localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    asChosen();
  });
  asChosen();
}
