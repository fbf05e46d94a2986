/** A text that shows its beginning until one asks for the rest: ten million letters take a browser half a minute. */
import { useState } from "preact/hooks";
import { count } from "./format";
import { pieces } from "./pieces";

const FIRST = 1200;

interface Props {
  text: string;
  class?: string;
  /** How what is shown is written. */
  written?: (text: string) => string;
}

export function LongText({ text, class: kind, written = (same) => same }: Props) {
  const [asked, ask] = useState("");
  const end = asked !== text && text.length > FIRST ? whole(text, FIRST) : text.length;
  return (
    <>
      <span class={kind}>{pieces(written(text.slice(0, end)))}</span>
      {end < text.length ? (
        <button type="button" class="more" onClick={() => ask(text)}>
          {count(text.length - end)} more characters
        </button>
      ) : null}
    </>
  );
}

/** An end that is not within a character. */
const whole = (text: string, end: number): number => (/[\uD800-\uDBFF]/.test(text[end - 1] ?? "") ? end - 1 : end);
