/** Long text in pieces. A browser's time for one text without an end of line grows with the square of its length, to
 * minutes where it also has no space; in pieces that stand side by side it looks, is found and is copied the same. */
import type { ComponentChildren } from "preact";

/** Up to this length nobody notices. */
const SHORT = 4000;
/** Characters, not halves of them. */
const PIECE = /[\s\S]{1,250}/gu;

export function pieces(text: string): ComponentChildren {
  if (text.length <= SHORT) return text;
  return text.match(PIECE)?.map((piece, n) => <span key={n}>{piece}</span>);
}
