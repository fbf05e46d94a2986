/** JSON without loss. For a browser 12345678901234567891 is another number and 1.0 is 1; what a log says is shown,
 * changed and sent on to the digit. Only values of events are read so: the page counts with plain numbers. */

/** A number that JavaScript does not have, or would write otherwise. */
export class Exact {
  /** As it stands in the text. */
  constructor(readonly source: string) {}

  toString(): string {
    return this.source;
  }
}

/** The value of a JSON text. Throws what JSON.parse throws. */
export function parsed(text: string): unknown {
  const mark = newMark();
  const out: string[] = [];
  let from = 0;
  each(text, (start, end) => {
    if (!/[-\d]/.test(text[start] as string)) return;
    const source = text.slice(start, end);
    if (String(Number(source)) === source || !NUMBER.test(source)) return;
    out.push(text.slice(from, start), `"${mark}${source}"`);
    from = end;
  });
  return out.length ? unmarked(JSON.parse(out.join("") + text.slice(from)), mark) : JSON.parse(text);
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** As JSON.stringify writes it, each number as it was read. */
export function written(value: unknown, indent = 0): string {
  const mark = newMark();
  const text: string | undefined = JSON.stringify(value, (_, one: unknown) => (one instanceof Exact ? mark + one.source : one), indent);
  return (text ?? "").replace(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
}

/** An answer that has the values at these places, such as "exchanges.*.error", exactly, and else plain numbers. */
export function answer<T>(text: string, places: readonly string[]): T {
  const plain = JSON.parse(text) as T;
  const exact = parsed(text);
  for (const place of places) put(plain, exact, place.split("."));
  return plain;
}

/** A JSON text laid out on lines, and nothing else about it changed: names that stand twice, digits, escapes. Throws
 * what JSON.parse throws. */
export function indented(text: string): string {
  JSON.parse(text);
  const out: string[] = [];
  let depth = 0;
  const line = () => out.push("\n", "  ".repeat(Math.min(depth, DEEPEST)));
  let before = "";
  each(text, (start, end) => {
    const token = text.slice(start, end);
    const opened = before === "{" || before === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    if (opened !== closes || before === ",") line();
    out.push(token === ":" ? ": " : token);
    if (token === "{" || token === "[") depth += 1;
    before = token;
  });
  return out.join("");
}

/** Levels that are set in further than the one above. */
const DEEPEST = 100;

/** No object of the text has a name twice: its value says all that it says. */
export function isDistinct(text: string, value: unknown): boolean {
  let names = 0;
  each(text, (start) => void (text[start] === ":" && (names += 1)));
  within(value, (one) => void (names -= Array.isArray(one) ? 0 : Object.keys(one).length));
  return names === 0;
}

/** Whatever a log says, it cannot know this. */
const newMark = (): string => `n${Math.random().toString(36).slice(2)}:`;

const WORD = /[^\s[\]{},:"]+/y;

/** Where each string, word and sign of a JSON text begins and ends. */
function each(text: string, see: (start: number, end: number) => void): void {
  for (let at = 0, end = 0; at < text.length; at = end) {
    const sign = text[at] as string;
    WORD.lastIndex = at;
    end = sign === '"' ? closing(text, at) : WORD.test(text) ? WORD.lastIndex : at + 1;
    if (!/\s/.test(sign)) see(at, end);
  }
}

/** Where a string ends that begins at a quote. */
function closing(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === "\\") first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Sees each object and list in a value, however deep. */
function within(value: unknown, see: (one: object) => void): void {
  const waiting = [value];
  while (waiting.length) {
    const one = waiting.pop();
    if (typeof one !== "object" || one === null || one instanceof Exact) continue;
    see(one);
    for (const inner of Object.values(one)) if (typeof inner === "object") waiting.push(inner);
  }
}

function unmarked(value: unknown, mark: string): unknown {
  const root = { value };
  within(root, (one) => {
    for (const [key, inner] of Object.entries(one)) {
      if (typeof inner !== "string" || !inner.startsWith(mark)) continue;
      // "__proto__" is a name like others
      Object.defineProperty(one, key, { value: new Exact(inner.slice(mark.length)), enumerable: true, writable: true, configurable: true });
    }
  });
  return root.value;
}

function put(into: unknown, from: unknown, [name = "", ...rest]: string[]): void {
  if (typeof into !== "object" || into === null) return;
  const [target, source] = [into as Record<string, unknown>, from as Record<string, unknown>];
  for (const key of name === "*" ? Object.keys(target) : [name]) {
    if (!Object.hasOwn(target, key)) continue;
    if (rest.length) put(target[key], source[key], rest);
    else target[key] = source[key];
  }
}
