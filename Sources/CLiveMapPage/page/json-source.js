// @ts-check
/**
 * JSON documents that keep what an editor doesn't touch: an array or an object that was not replaced is written with the
 * text that it was read from. The editor replaces the objects that it changes, and never changes one in place.
 */

/** A number that JavaScript can't represent, as its text. */
export class Literal {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** The texts of the arrays and objects that were read. @type {WeakMap<object, string>} */
const sources = new WeakMap();

/** Reads a JSON text (RFC 8259). */
class Reader {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.index = text.startsWith("\ufeff") ? 1 : 0;
  }

  /**
   * Returns the error at this place.
   * @param {string} what
   * @returns {Error}
   */
  problem(what) {
    const before = this.text.slice(0, this.index).split("\n");
    const column = before[before.length - 1].length + 1;
    return new Error(`venue.json ${what} at line ${before.length}, column ${column}; correct it there`);
  }

  skip() {
    while (" \t\r\n".includes(this.text[this.index] ?? "x")) this.index++;
  }

  /** @param {string} character */
  take(character) {
    this.skip();
    if (this.text[this.index] !== character) return false;
    this.index++;
    return true;
  }

  /** @param {RegExp} pattern a sticky pattern */
  match(pattern) {
    pattern.lastIndex = this.index;
    const found = pattern.exec(this.text);
    if (!found) throw this.problem("is not valid JSON");
    this.index = pattern.lastIndex;
    return found[0];
  }

  /** @returns {any} */
  value() {
    this.skip();
    const start = this.index;
    switch (this.text[start]) {
      case "{": return this.keep(start, this.object());
      case "[": return this.keep(start, this.array());
      case '"': return this.string();
      case "t": case "f": case "n": return JSON.parse(this.match(/true|false|null/y));
      default: return numberOf(this.match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y));
    }
  }

  /**
   * @param {number} start
   * @param {object} value
   */
  keep(start, value) {
    sources.set(value, this.text.slice(start, this.index));
    return value;
  }

  object() {
    // Without a prototype, every key is a key.
    const found = Object.create(null);
    this.take("{");
    if (this.take("}")) return found;
    do {
      this.skip();
      const key = this.string();
      if (!this.take(":")) throw this.problem("has no colon");
      const value = this.value();
      // The first value of a repeated key counts, as in the package.
      if (!(key in found)) found[key] = value;
    } while (this.take(","));
    if (!this.take("}")) throw this.problem("has no end of an object");
    return found;
  }

  array() {
    /** @type {any[]} */
    const found = [];
    this.take("[");
    if (this.take("]")) return found;
    do found.push(this.value()); while (this.take(","));
    if (!this.take("]")) throw this.problem("has no end of an array");
    return found;
  }

  string() { return JSON.parse(this.match(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y)); }
}

/** @param {string} text */
function numberOf(text) {
  const number = Number(text);
  const isExact = Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number));
  return isExact ? number : new Literal(text);
}

/**
 * Reads a document; throws an error with line and column.
 * @param {string} text
 */
export function readJSON(text) {
  const reader = new Reader(text);
  const value = reader.value();
  reader.skip();
  if (reader.index < text.length) throw reader.problem("has text after its end");
  return value;
}

/**
 * Writes a document. What was not replaced keeps its text. New objects have the form of the document: one line each, or
 * one line for each field if the others have that.
 * @param {any} document
 * @param {string} original the text that the document was read from
 */
export function writeJSON(document, original) {
  const isSpread = /\[\s*\{\s*\n/.test(original);
  return `${written(document, 0, isSpread)}${original.endsWith("\n") || original === "" ? "\n" : ""}`;
}

/**
 * Returns a value on one line, with the text that it was read from.
 * @param {any} value
 */
export const oneLine = (value) => written(value, 2, false).replace(/\s*\n\s*/g, " ");

/**
 * @param {any} value
 * @param {number} depth
 * @param {boolean} isSpread
 * @returns {string}
 */
function written(value, depth, isSpread) {
  if (value instanceof Literal) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const source = sources.get(value);
  if (source !== undefined) return source;
  const isArray = Array.isArray(value);
  const parts = isArray ? value.map((one) => written(one, depth + 1, isSpread))
    : Object.keys(value).map((key) => `${JSON.stringify(key)}: ${written(value[key], depth + 1, isSpread)}`);
  const [open, close] = isArray ? "[]" : "{}";
  if (parts.length === 0) return open + close;
  const isPoint = isArray && value.every((one) => typeof one !== "object");
  if (isPoint || (depth >= 2 && !isSpread)) return `${open}${parts.join(", ")}${close}`;
  const indent = "  ".repeat(depth);
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(",\n")}\n${indent}${close}`;
}
