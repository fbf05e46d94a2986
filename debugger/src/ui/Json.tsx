/** A JSON value as a tree that folds. Long lists and texts show their beginning until asked. */
import { useState } from "preact/hooks";
import { Exact } from "../api/exact";
import { count } from "./format";
import { LongText } from "./LongText";
import { pieces } from "./pieces";

const FIRST = 50;

interface Props {
  value: unknown;
  name?: string;
  /** How many levels are open at first. */
  open?: number;
}

export function Json({ value, open = 2 }: Props) {
  return (
    <div class="json" role="tree" aria-label="JSON">
      <Value value={value} open={open} />
    </div>
  );
}

function Value({ value, name, open = 0 }: Props) {
  if (value !== null && typeof value === "object" && !(value instanceof Exact)) return <Branch value={value} name={name} open={open} />;
  return (
    <div role="treeitem">
      <Name name={name} />
      {typeof value === "string" ? (
        <LongText text={value} class="string" written={written} />
      ) : (
        <span class={value === null ? "null" : value instanceof Exact ? "number" : typeof value}>{String(value)}</span>
      )}
    </div>
  );
}

const Name = ({ name }: { name: string | undefined }) => (name === undefined ? null : <span class="key">{pieces(name)}: </span>);

/** As JSON has it, but for the ends of lines: a traceback or a page of text is to be read. The raw tab has the letter. */
const written = (text: string): string => JSON.stringify(text).replace(/\\\\|\\n/g, (found) => (found === "\\n" ? "\n" : found));

function Branch({ value, name, open }: { value: object; name: string | undefined; open: number }) {
  const [shown, setShown] = useState(open > 0);
  const [limit, setLimit] = useState(FIRST);
  const list = Array.isArray(value);
  const entries = Object.entries(value);
  const brackets = list ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0)
    return (
      <div role="treeitem">
        <Name name={name} />
        <span class="null">{brackets.join("")}</span>
      </div>
    );
  return (
    <div role="treeitem" aria-expanded={shown}>
      <button type="button" class="fold" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <Name name={name} />
        <span class="null">{shown ? brackets[0] : `${brackets[0]}${count(entries.length)}${brackets[1]}`}</span>
      </button>
      {shown ? (
        <ul role="group">
          {entries.slice(0, limit).map(([key, inner]) => (
            <li key={key} role="none">
              <Value value={inner} name={key} open={open - 1} />
            </li>
          ))}
          {entries.length > limit ? (
            <li role="none">
              <button type="button" class="more" onClick={() => setLimit(limit + 200)}>
                {count(entries.length - limit)} more
              </button>
            </li>
          ) : null}
        </ul>
      ) : null}
    </div>
  );
}
