// One candidate in JavaScript and the calls of the desk (docs/check-protocol.md): requests on descriptor 0, replies on 3.
//
// The candidate may take this process over; all it gains is to choose its own answers.
//
// Literals become: None null, True and False booleans, int a number where it is exact and a BigInt elsewhere, float a
// number, str a string, bytes a Uint8Array, list and tuple an Array, set a Set, dict a Map. A plain object goes back as
// a dict, undefined as None, a number without a fraction as an int.
"use strict";
const fs = require("node:fs");
const { Module } = require("node:module");

const TEXT_MAX = 4 << 20;
const DEPTH_MAX = 100;

class NotLiteral extends Error {}

// ---------------------------------------------------------------- texts to values

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  blanks() {
    while (this.text[this.at] === " ") this.at += 1;
  }

  take(word) {
    this.blanks();
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  expect(word) {
    if (!this.take(word)) throw new SyntaxError(`${word} is missing at ${this.at}`);
  }

  items(end, one) {
    const found = [];
    while (!this.take(end)) {
      found.push(one());
      if (!this.take(",")) {
        this.expect(end);
        break;
      }
    }
    return found;
  }

  value() {
    for (const [word, value] of [["None", null], ["True", true], ["False", false]]) if (this.take(word)) return value;
    if (this.take("set()")) return new Set();
    if (this.take("[")) return this.items("]", () => this.value());
    if (this.take("(")) return this.items(")", () => this.value());
    if (this.take("{")) return this.braces();
    const quote = /^b?['"]/.exec(this.text.slice(this.at, this.at + 2));
    return quote ? this.string(quote[0]) : this.number();
  }

  braces() {
    let pairs = false;
    const found = this.items("}", () => {
      const key = this.value();
      if (!this.take(":")) return key;
      pairs = true;
      return [key, this.value()];
    });
    return pairs || found.length === 0 ? new Map(found) : new Set(found);
  }

  number() {
    const [word] = /^[-+]?[0-9][0-9a-fA-FxX.+_eE-]*/.exec(this.text.slice(this.at, this.at + 5000)) ?? [""];
    const digits = /^[-+]?(0[xX][0-9a-fA-F]+|[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)/.exec(word);
    if (!digits) throw new SyntaxError(`no literal at ${this.at}`);
    if (/j/.test(this.text[this.at + digits[0].length] ?? "")) throw new SyntaxError("no complex numbers here");
    this.at += digits[0].length;
    if (/[.eE]/.test(digits[0]) && !/x/i.test(digits[0])) return Number(digits[0]);
    const sign = digits[0].startsWith("-") ? -1n : 1n;
    const exact = sign * BigInt(digits[0].replace(/^[-+]/, ""));
    return exact >= Number.MIN_SAFE_INTEGER && exact <= Number.MAX_SAFE_INTEGER ? Number(exact) : exact;
  }

  string(opening) {
    const quote = opening.at(-1);
    this.at += opening.length;
    const plain = { n: "\n", r: "\r", t: "\t" };
    const widths = { x: 2, u: 4, U: 8 };
    let found = "";
    while (this.text[this.at] !== quote) {
      let char = this.text[this.at];
      if (char === undefined) throw new SyntaxError("a string without an end");
      this.at += 1;
      if (char === "\\") {
        const kind = this.text[this.at];
        this.at += 1;
        const width = widths[kind];
        if (width) {
          char = String.fromCodePoint(parseInt(this.text.slice(this.at, this.at + width), 16));
          this.at += width;
        } else char = plain[kind] ?? kind;
      }
      found += char;
    }
    this.at += 1;
    return opening.length === 2 ? Uint8Array.from(found, (char) => char.charCodeAt(0)) : found;
  }
}

// ---------------------------------------------------------------- values to texts

function quoted(text) {
  let found = "'";
  for (const char of text) {
    const code = char.codePointAt(0);
    if (char === "'" || char === "\\") found += "\\" + char;
    else if (code >= 32 && code < 127) found += char;
    else found += "\\U" + code.toString(16).padStart(8, "0");
  }
  return found + "'";
}

function number(value) {
  if (!Number.isFinite(value)) throw new NotLiteral("a number that is not finite");
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function emit(value, depth = 0) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return number(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") throw new NotLiteral(`a value of type ${typeof value}`);
  if (depth >= DEPTH_MAX) throw new NotLiteral(`nested deeper than ${DEPTH_MAX}`);
  const all = (items) => Array.from(items, (item) => emit(item, depth + 1)).join(", ");
  if (Array.isArray(value)) return `[${all(value)}]`;
  if (value instanceof Set) return value.size ? `{${all(value)}}` : "set()";
  if (value instanceof Uint8Array) return "b'" + Array.from(value, (byte) => "\\x" + byte.toString(16).padStart(2, "0")).join("") + "'";
  const prototype = Object.getPrototypeOf(value);
  const entries = value instanceof Map ? value : prototype === Object.prototype || prototype === null ? Object.entries(value) : null;
  if (entries === null) throw new NotLiteral(`a value of class ${value.constructor?.name}`);
  return "{" + Array.from(entries, ([key, item]) => emit(key, depth + 1) + ": " + emit(item, depth + 1)).join(", ") + "}";
}

// ---------------------------------------------------------------- conversation

function load(source, entryPoint) {
  const module = new Module("candidate");
  module._compile(`${source}\n;typeof ${entryPoint} === "function" && (module.touchstone = ${entryPoint});`, "candidate.js");
  const found = module.touchstone ?? module.exports?.[entryPoint];
  if (typeof found !== "function") throw new ReferenceError(`no function ${entryPoint}`);
  return found;
}

function call(found, text) {
  const answer = emit(found(...new Reader(text).value()));
  if (answer.length > TEXT_MAX) throw new NotLiteral(`a value of ${answer.length} characters`);
  return answer;
}

function described(error) {
  const name = error?.constructor?.name;
  return { error: typeof name === "string" ? name : "Error", message: String(error?.message ?? error).slice(0, 500) };
}

function reply(members) {
  const ascii = JSON.stringify(members).replace(/[^ -~]/g, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
  let rest = Buffer.from(ascii + "\n");
  while (rest.length) rest = rest.subarray(fs.writeSync(3, rest));
}

let found = null;
function answer(request) {
  try {
    if (request.load === undefined) return { value: call(found, request.call) };
    found = load(request.load, request.entry_point);
    return { loaded: request.entry_point };
  } catch (error) {
    return described(error);
  }
}

function line(kept) {
  while (!kept.rest.includes("\n")) {
    const piece = Buffer.alloc(1 << 16);
    const count = fs.readSync(0, piece);
    if (count === 0) process.exit(0);
    kept.rest = Buffer.concat([kept.rest, piece.subarray(0, count)]);
  }
  const end = kept.rest.indexOf("\n");
  const text = kept.rest.subarray(0, end).toString("utf8");
  kept.rest = kept.rest.subarray(end + 1);
  return text;
}

const kept = { rest: Buffer.alloc(0) };
reply({ ready: "1" });
for (;;) {
  const request = JSON.parse(line(kept));
  reply({ nonce: request.nonce, ...answer(request) });
}
