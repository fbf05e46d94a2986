/** A difference of two texts, line by line; in lines that replace each other, word by word. */
import { diffWordsWithSpace } from "diff";
import type { ComponentChildren } from "preact";
import { pieces } from "./pieces";

const FIRST = 400;

export function Unified({ lines }: { lines: string[] }) {
  return (
    <pre class="code unified" tabIndex={0} role="region" aria-label="Difference">
      {rows(lines.slice(0, FIRST))}
      {lines.length > FIRST ? <div class="dim">{lines.length - FIRST} more lines</div> : null}
    </pre>
  );
}

function rows(lines: string[]): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  for (let n = 0; n < lines.length; n++) {
    const [line, next] = [lines[n] as string, lines[n + 1]];
    const alone = !lines[n + 2]?.startsWith("+");
    if (line.startsWith("-") && next?.startsWith("+") && alone && line.length + next.length < 4000) {
      out.push(...pair(line.slice(1), next.slice(1), n));
      n += 1;
    } else out.push(plain(line, n));
  }
  return out;
}

const plain = (line: string, key: number): ComponentChildren => (
  <div key={key} class={line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : line.startsWith("@@") ? "hunk" : ""}>
    {pieces(line) || " "}
  </div>
);

function pair(before: string, after: string, key: number): ComponentChildren[] {
  const words = diffWordsWithSpace(before, after);
  return [
    <div key={key} class="minus">
      -{words.filter((word) => !word.added).map((word, n) => (word.removed ? <del key={n}>{pieces(word.value)}</del> : pieces(word.value)))}
    </div>,
    <div key={`${key}+`} class="plus">
      +{words.filter((word) => !word.removed).map((word, n) => (word.added ? <ins key={n}>{pieces(word.value)}</ins> : pieces(word.value)))}
    </div>,
  ];
}
