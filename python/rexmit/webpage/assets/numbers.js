// Numbers as a reader has them.

/** With commas, and as many digits as say something. */
export function plain(value) {
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size >= 1000) return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
  if (size >= 1e-4) return String(Number(value.toFixed(size >= 1 ? 6 : 9)));
  return String(Number(value.toPrecision(6)));
}

/** Seconds in the unit that suits them. */
export function span(value) {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${Number((value * 1e6).toPrecision(4))} µs`;
  if (size < 1) return `${Number((value * 1e3).toPrecision(4))} ms`;
  return `${Number(value.toPrecision(5))} s`;
}

/** A time since 1970 in UTC; seconds where a clock shows no date. */
export function clock(value) {
  if (value < 1e8 || value > 1e11) return plain(value);
  const date = new Date(value * 1000);
  const micros = String(Math.round((value % 1) * 1e6) % 1e6).padStart(6, "0");
  return date.toISOString().slice(0, 19).replace("T", " ") + "." + micros;
}

/** Bytes in steps of 1,000. */
export function size(value) {
  for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (Math.abs(value) >= factor) return `${Number((value / factor).toPrecision(4))} ${unit}`;
  }
  return `${value} B`;
}

/** Bits a second in steps of 1,000. */
export function rate(value) {
  for (const [unit, factor] of [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3]]) {
    if (Math.abs(value) >= factor) return `${Number((value / factor).toPrecision(3))} ${unit}`;
  }
  return `${Number(value.toPrecision(3))} bit/s`;
}

/** A value of a table's column. */
export function shown(value, unit, name) {
  if (value === null) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (/^(start_s|time_s|end_s)$/.test(name) && value > 1e8) return clock(value);
  // The same digits in all rows, so that they stand below each other.
  if (unit === "s") return value.toFixed(6);
  if (unit === "ms") return value.toFixed(3);
  if (unit === "%") return value.toFixed(1);
  return plain(value);
}
