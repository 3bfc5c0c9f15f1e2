// Packs of compressed columns, as rexmit/webpage/columns.py writes them.

/** What is said where the file is not what was written. */
export class Damaged extends Error {}

const WIDTH = { u1: 1, u2: 2, u4: 4, i4: 4, f8: 8 };
const ARRAY = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f8: Float64Array,
};

/** The pack in the element of this id: {about, tables}. Throws Damaged. */
export async function unpack(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Damaged(`${id} is missing: the file was cut short`);
  let data;
  try {
    data = await inflated(bytesOf(element.textContent));
  } catch (error) {
    // gzip's checksum, or letters that base64 does not have.
    throw new Damaged(`${id} is damaged (${error.message || error.name})`);
  }
  const length = new DataView(data.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const body = data.subarray(Math.ceil((4 + length) / 8) * 8);
  const tables = {};
  for (const [name, table] of Object.entries(header.tables)) {
    tables[name] = new Table(name, table, body);
  }
  return { about: header.about, tables };
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Columns of one length. A column is unpacked when it is first asked for. */
class Table {
  constructor(name, header, body) {
    this.name = name;
    this.rows = header.rows;
    this.names = header.columns.map((column) => column.name);
    this.columns = new Map(
      header.columns.map((column) => [column.name, new Column(column, header.rows, body)]),
    );
  }

  column(name) {
    return this.columns.get(name);
  }
}

/** One column: kind is number, boolean, words (few different ones) or texts. */
class Column {
  #header;
  #body;
  #numbers = null;
  #text = null;
  #lower = null;

  constructor(header, rows, body) {
    this.name = header.name;
    this.kind = header.kind;
    this.values = header.values || null;
    this.rows = rows;
    this.#header = header;
    this.#body = body;
  }

  /** The numbers that stand for the rows: values, codes of words, ends of texts. */
  get numbers() {
    if (this.#numbers === null) {
      this.#numbers = unshuffled(this.#body, this.#header.at, this.#header.type, this.rows);
    }
    return this.#numbers;
  }

  /** All texts of a column of texts in one, and the same in lower case for searches. */
  get text() {
    if (this.#text === null) {
      const { text_at: at, text_bytes: bytes } = this.#header;
      this.#text = new TextDecoder().decode(this.#body.subarray(at, at + bytes));
    }
    return this.#text;
  }

  get lower() {
    if (this.#lower === null) {
      const lower = this.text.toLowerCase();
      // A few letters change their length, and the ends would be wrong.
      this.#lower = lower.length === this.text.length ? lower : this.text;
    }
    return this.#lower;
  }

  /** The value of a row: a number, true or false, a text, or null. */
  at(row) {
    const number = this.numbers[row];
    if (this.kind === "number") return Number.isNaN(number) ? null : number;
    if (this.kind === "boolean") return number === 2 ? null : number === 1;
    if (this.kind === "words") return number === 0 ? null : this.values[number - 1];
    // No text is empty, but null.
    return this.text.slice(row === 0 ? 0 : this.numbers[row - 1], number) || null;
  }
}

function unshuffled(body, at, type, rows) {
  const width = WIDTH[type];
  const bytes = new Uint8Array(rows * width);
  for (let byte = 0; byte < width; byte++) {
    const from = at + byte * rows;
    for (let row = 0, to = byte; row < rows; row++, to += width) bytes[to] = body[from + row];
  }
  return new ARRAY[type](bytes.buffer);
}
