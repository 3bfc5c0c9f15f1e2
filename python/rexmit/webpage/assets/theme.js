// Dark and light: as the system has it, until somebody chooses; canvases ask for colours here.

const listeners = new Set();

/** The colour that the styles give a name. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Calls `drawn` whenever colours change, until `host` is gone. */
export function onTheme(host, drawn) {
  const one = () => (host.isConnected ? drawn() : listeners.delete(one));
  listeners.add(one);
}

/** Goes to the other theme. */
export function turn() {
  const dark = isDark();
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  tell();
}

/** Whether it is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function tell() {
  for (const one of [...listeners]) one();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
// Paper is white.
addEventListener("beforeprint", () => {
  document.documentElement.dataset.print = "";
  tell();
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.print;
  tell();
});
