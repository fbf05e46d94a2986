/** Code with its colours. The highlighter gives a tree, which becomes elements: no text is taken as HTML. */
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { indented } from "../api/exact";
import { CopyButton } from "./Copy";
import { pieces } from "./pieces";

const lowlight = createLowlight({
  bash, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml,
});
const LIMIT = 40_000;

interface Props {
  text: string;
  language?: string | undefined;
  copy?: boolean;
  label?: string;
  /** One of many in a text: no place of the page to go to. */
  part?: boolean;
}

export function Code({ text, language, copy = true, label, part = false }: Props) {
  const content = useMemo(() => coloured(text, language), [text, language]);
  return (
    <div class="codebox">
      {copy ? <CopyButton text={text} class="over" label={`Copy: ${label ?? "code"}`} /> : null}
      <pre class="code" tabIndex={0} role={part ? "group" : "region"} aria-label={label ?? "code"}>
        <code>{content}</code>
      </pre>
    </div>
  );
}

/** JSON on lines, to the letter; any other text as it is. */
export function laidOut(text: string): string {
  try {
    return indented(text);
  } catch {
    return text;
  }
}

function coloured(text: string, language: string | undefined): ComponentChildren {
  const name = language?.split(/\s/)[0]?.toLowerCase();
  if (!name || text.length > LIMIT || !lowlight.registered(name)) return pieces(text);
  return lowlight.highlight(name, text).children.map(element);
}

interface Hast {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Hast[];
}

function element(node: unknown, key: number): ComponentChildren {
  const { type, value, properties, children } = node as Hast;
  if (type === "text") return pieces(value ?? "");
  const names = Array.isArray(properties?.className) ? properties.className.join(" ") : "";
  return (
    <span key={key} class={names}>
      {(children ?? []).map(element)}
    </span>
  );
}
