// The address of a view: what stands behind the # says all that is needed to come back to it.

const KEPT = /%(2C|3A|3D|20|2F|21)/g;
const PLAIN = { "2C": ",", "3A": ":", "3D": "=", 20: " ", "2F": "/", 21: "!" };

/** The names and values of the address. */
export function read() {
  const found = {};
  for (const part of location.hash.replace(/^#/, "").split("&")) {
    const [name, ...rest] = part.split("=");
    if (name) found[decoded(name)] = decoded(rest.join("="));
  }
  return found;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of these names and values; those without a value are left out. */
export function write(view) {
  const parts = Object.entries(view)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encoded(String(value))}`);
  return "#" + parts.join("&");
}

function encoded(text) {
  const kept = encodeURIComponent(text).replace(KEPT, (_, code) => PLAIN[code]);
  return kept.replaceAll(" ", "%20");
}

/** Goes to a view; the way back leads here. */
export function go(view) {
  location.hash = write(view);
}

/** Notes where the view is now, without a step on the way back. */
export function note(view) {
  if (write(view) !== location.hash) history.replaceState(null, "", write(view));
}

/** The range `1.2..1.9` as two numbers; null where it is none. */
export function range(text) {
  const [from, to] = (text || "").split("..").map(Number);
  return Number.isFinite(from) && Number.isFinite(to) && from < to ? [from, to] : null;
}

/** Two numbers as a range, with as many digits as it needs. */
export function rangeText([from, to]) {
  const digits = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(to - from))));
  return `${trimmed(from, digits)}..${trimmed(to, digits)}`;
}

function trimmed(value, digits) {
  return String(Number(value.toFixed(digits)));
}
