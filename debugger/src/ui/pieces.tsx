/** Text as it is, with what would not be seen in it. Long text in pieces: a browser's time for one text without an
 * end of line grows with the square of its length, to minutes where it also has no space; in pieces that stand side
 * by side it looks, is found and is copied the same. */
import type { ComponentChildren } from "preact";

/** Up to this length nobody notices. */
const SHORT = 4000;
/** Characters, not halves of them. */
const PIECE = /[\s\S]{1,250}/gu;

/** What moves, hides or is nothing: controls but for ends of lines and tabs, marks of direction, zero width, tags. The
 * choice of a coloured sign or a plain one is left alone, and the joiners where a script or an emoji needs them. */
const UNSEEN =
  /((?:(?![\n\t\ufe0e\ufe0f\u200c\u200d]|\r\n)[\p{C}\u2028\u2029\p{Default_Ignorable_Code_Point}]|[\u200c\u200d](?<!(?![\0-\u024f])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f][\u200c\u200d]))+)/u;

export function pieces(text: string): ComponentChildren {
  if (!UNSEEN.test(text)) return short(text);
  return text.split(UNSEEN).map((part, n) =>
    n % 2 ? (
      <span key={n} class="unseen" title={plainly(part.length)}>
        {escaped(part)}
      </span>
    ) : (
      short(part)
    ),
  );
}

const plainly = (length: number): string => (length === 1 ? "a character that is not seen" : "characters that are not seen");

/** As the list of events writes them: \u200b. */
export const escaped = (text: string): string => Array.from(text, (one) => escape(one.codePointAt(0) as number)).join("");

function escape(code: number): string {
  const [letter, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${letter}${code.toString(16).padStart(digits as number, "0")}`;
}

function short(text: string): ComponentChildren {
  if (text.length <= SHORT) return text;
  return text.match(PIECE)?.map((piece, n) => <span key={n}>{piece}</span>);
}
