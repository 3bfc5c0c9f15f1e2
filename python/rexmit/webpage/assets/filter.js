// What stands in a table's search field: words to find, and comparisons like waited_s>0.5. The
// command does the same (rexmit/webpage/filter.py).

const COMPARISON = /^([A-Za-z_][\w]*)(<=|>=|!=|=|<|>)(.*)$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The terms of a search, and what is wrong with it. */
export function parsed(text, table) {
  const terms = [];
  const wrong = [];
  for (const token of text.match(/"[^"]*"|\S+/g) || []) {
    const quoted = token.startsWith('"');
    const found = quoted ? null : COMPARISON.exec(token);
    if (found === null) {
      terms.push({ word: token.replace(/^"|"$/g, "").toLowerCase() });
      continue;
    }
    const [, name, sign, value] = found;
    const column = table.column(name);
    if (!column) wrong.push(`there is no column ${name}`);
    else if (value === "null" && (sign === "=" || sign === "!=")) terms.push({ column, sign, value: null });
    else if (value === "" || value === "null") wrong.push(`${name}${sign} is compared with nothing`);
    else if (column.kind === "number" && !NUMBER.test(value)) {
      wrong.push(`${name} is compared with a number`);
    } else terms.push({ column, sign, value });
  }
  return { terms, wrong };
}

/** The rows that all terms fit, in their order. */
export function fitting(terms, table) {
  let mask = null;
  for (const term of terms) {
    const fits = term.word === undefined ? compared(term) : found(term.word, table);
    if (mask === null) mask = fits;
    else for (let i = 0; i < mask.length; i++) mask[i] &= fits[i];
  }
  const rows = new Uint32Array(table.rows);
  let count = 0;
  for (let i = 0; i < table.rows; i++) if (mask === null || mask[i]) rows[count++] = i;
  return rows.subarray(0, count);
}

function found(word, table) {
  const mask = new Uint8Array(table.rows);
  for (const column of table.columns.values()) {
    if (column.kind === "words") {
      const fits = column.values.map((value) => value.toLowerCase().includes(word));
      if (!fits.includes(true)) continue;
      const codes = column.numbers;
      for (let i = 0; i < mask.length; i++) if (codes[i] && fits[codes[i] - 1]) mask[i] = 1;
    } else if (column.kind === "texts") {
      inTexts(word, column, mask);
    }
  }
  return mask;
}

// All texts stand one behind the other: one search through all of them finds the rows.
function inTexts(word, column, mask) {
  const ends = column.numbers;
  const text = column.lower;
  let row = 0;
  let at = text.indexOf(word);
  while (at !== -1) {
    while (ends[row] <= at) row++;
    if (at + word.length <= ends[row]) {
      mask[row] = 1;
      at = text.indexOf(word, ends[row]);
    } else {
      at = text.indexOf(word, at + 1);
    }
  }
}

const SIGNS = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

// Nothing fits no comparison but those with null.
function compared({ column, sign, value }) {
  const mask = new Uint8Array(column.rows);
  const holds = SIGNS[sign];
  if (value === null) {
    for (let i = 0; i < mask.length; i++) mask[i] = holds(column.at(i), null) ? 1 : 0;
  } else if (column.kind === "number") {
    const limit = Number(value);
    const numbers = column.numbers;
    for (let i = 0; i < mask.length; i++) mask[i] = !Number.isNaN(numbers[i]) && holds(numbers[i], limit) ? 1 : 0;
  } else {
    const wanted = value.toLowerCase();
    for (let i = 0; i < mask.length; i++) {
      const here = column.at(i);
      mask[i] = here !== null && holds(String(here).toLowerCase(), wanted) ? 1 : 0;
    }
  }
  return mask;
}
