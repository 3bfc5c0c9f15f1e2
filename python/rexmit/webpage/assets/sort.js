// Sorting a million rows: by radix where rows are numbers, which they mostly are.

/** The rows in order of a column; null is last either way, equal rows stay as they were. */
export function sorted(rows, column, descending) {
  if (column.kind === "texts") return byText(rows, column, descending);
  const keys = new Float64Array(rows.length);
  const numbers = column.numbers;
  const nothing = column.kind === "words" ? 0 : column.kind === "boolean" ? 2 : NaN;
  for (let i = 0; i < rows.length; i++) {
    const number = numbers[rows[i]];
    const empty = number === nothing || Number.isNaN(number);
    keys[i] = empty ? Infinity : descending ? -number : number;
  }
  return radix(rows, keys);
}

function radix(rows, keys) {
  const count = rows.length;
  const halves = new Uint32Array(keys.buffer);
  // The bits of a float are in its order once the sign is turned round.
  for (let i = 0; i < count; i++) {
    const low = halves[2 * i];
    const high = halves[2 * i + 1];
    if (high & 0x80000000) {
      halves[2 * i] = ~low;
      halves[2 * i + 1] = ~high;
    } else {
      halves[2 * i + 1] = high | 0x80000000;
    }
  }
  let order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let next = new Uint32Array(count);
  const parts = new Uint16Array(keys.buffer);
  const starts = new Uint32Array(65537);
  for (let part = 0; part < 4; part++) {
    starts.fill(0);
    for (let i = 0; i < count; i++) starts[parts[4 * i + part] + 1]++;
    if (starts.some((n, digit) => digit > 0 && n === count)) continue;
    for (let digit = 0; digit < 65536; digit++) starts[digit + 1] += starts[digit];
    for (let i = 0; i < count; i++) {
      const one = order[i];
      next[starts[parts[4 * one + part]]++] = one;
    }
    [order, next] = [next, order];
  }
  const made = new Uint32Array(count);
  for (let i = 0; i < count; i++) made[i] = rows[order[i]];
  return made;
}

// A few letters at a time, the last ones first: each a number that the radix sorts by.
function byText(rows, column, descending) {
  const { text, numbers: ends } = column;
  // Six letters of ASCII, or three of any, are exact in a float.
  const plain = !/[^\x00-\x7f]/.test(text);
  const [letters, base] = plain ? [6, 256] : [3, 65536];
  let longest = 0;
  for (const row of rows) longest = Math.max(longest, ends[row] - (row ? ends[row - 1] : 0));
  let order = rows;
  for (let from = Math.ceil(longest / letters - 1) * letters; from >= 0; from -= letters) {
    const keys = new Float64Array(order.length);
    for (let i = 0; i < order.length; i++) {
      const row = order[i];
      const start = (row ? ends[row - 1] : 0) + from;
      let key = 0;
      for (let at = start; at < start + letters; at++) {
        // A text that has ended stands before all letters.
        key = key * base + (at < ends[row] ? text.charCodeAt(at) + (plain ? 1 : 0) : 0);
      }
      keys[i] = descending ? -key : key;
    }
    order = radix(order, keys);
  }
  return emptyLast(order, ends);
}

function emptyLast(order, ends) {
  const isEmpty = (row) => ends[row] === (row ? ends[row - 1] : 0);
  const made = new Uint32Array(order.length);
  let count = 0;
  for (const row of order) if (!isEmpty(row)) made[count++] = row;
  for (const row of order) if (isEmpty(row)) made[count++] = row;
  return made;
}
