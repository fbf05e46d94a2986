/** Markdown of a log as elements. The parser's tokens become nodes one by one and no text is ever taken as
 * HTML, so nothing a model or a page wrote can become more than text, links and pictures out of the log. Nor does it
 * become less: what would be left out, such as a definition, stands there as text. */
import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, type ComponentChildren, type JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Code } from "./Code";
import { escaped, pieces } from "./pieces";

/** More than this is shown as plain text: a reader does not need it laid out, and the page stays quick. */
const LIMIT = 60_000;

export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => (text.length > LIMIT ? null : parsed(text)), [text]);
  if (!tokens) return <div class="plain">{pieces(text)}</div>;
  return <div class="prose">{tokens.map(block)}</div>;
}

function parsed(text: string): Token[] | null {
  try {
    return levelled(new Lexer({ gfm: true, breaks: true }).lex(text.replace(SPACES, escaped)));
  } catch {
    return null; // text nested too deep for the parser is shown as it stands
  }
}

/** Space to the parser, which takes it away at edges; nothing to the eye. */
const SPACES = /[\ufeff\u2028\u2029\v\f]/g;

/** Headings of the page are above those of a text, whatever those begin with: the first ones of it are of the level
 * below, and none is more than one below the heading that it is under. */
function levelled(tokens: Token[]): Token[] {
  const above: number[] = [];
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const { depth } = token as Tokens.Heading;
    while ((above.at(-1) ?? 0) >= depth) above.pop();
    above.push(depth);
    (token as Levelled).level = above.length;
  }
  return tokens;
}

const LEVELS = ["h3", "h4", "h5", "h6"] as const;
type Levelled = Tokens.Heading & { level?: number };

function block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return heading(token as Tokens.Heading, key);
    case "paragraph":
      return <p key={key}>{inlines(token.tokens)}</p>;
    case "code":
      return code(token as Tokens.Code, key);
    case "blockquote":
      return <blockquote key={key}>{(token.tokens ?? []).map(block)}</blockquote>;
    case "hr":
      return <hr key={key} />;
    case "list":
      return list(token as Tokens.List, key);
    case "table":
      return table(token as Tokens.Table, key);
    case "text":
      return <p key={key}>{token.tokens ? inlines(token.tokens) : unescaped(token.text as string)}</p>;
    default:
      return (
        <p key={key} class="plain">
          {pieces(token.raw)}
        </p>
      );
  }
}

function heading(token: Levelled, key: number): JSX.Element {
  const Level = LEVELS[Math.min(token.level ?? 1, LEVELS.length) - 1] ?? "h3";
  return (
    <Level key={key} class={token.depth === 1 ? "h1" : ""}>
      {inlines(token.tokens)}
    </Level>
  );
}

/** What stands behind the name of a language is shown above it. */
function code({ text, lang }: Tokens.Code, key: number): ComponentChildren {
  return (
    <Fragment key={key}>
      {lang && !/^[\w+#-]{1,20}$/.test(lang) ? <p class="dim mono">{pieces(lang)}</p> : null}
      <Code text={text} language={lang} part />
    </Fragment>
  );
}

/** Numbers are those that are written, which an HTML list would count anew. */
function list(token: Tokens.List, key: number): JSX.Element {
  const items = token.items.map((item, n) => (
    <li key={n} value={token.ordered ? Number(/\d+/.exec(item.raw)?.[0] ?? n + 1) : undefined}>
      {item.task ? <input type="checkbox" checked={item.checked} disabled aria-label="task" /> : null}
      {item.tokens.map((inner, m) => (inner.type === "text" ? textItem(inner, m) : block(inner, m)))}
    </li>
  ));
  return token.ordered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>;
}

const textItem = (token: Token, key: number): ComponentChildren => (
  <span key={key}>{"tokens" in token && token.tokens ? inlines(token.tokens) : unescaped(token.raw)}</span>
);

/** Cells of a line of a table, some more where a sign of one is meant as text. */
const cells = (line: string): number => line.trim().replace(/^\||\|$/g, "").split("|").length;

/** The parser drops cells that a table has no column for: such a table is shown as it is written. */
function table(token: Tokens.Table, key: number): JSX.Element {
  if (token.raw.trim().split("\n").some((line) => cells(line) > token.header.length))
    return (
      <p key={key} class="plain mono">
        {pieces(token.raw.trimEnd())}
      </p>
    );
  return (
    <table key={key}>
      <thead>
        <tr>
          {token.header.map((cell, n) => (
            <th key={n}>{inlines(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, n) => (
          <tr key={n}>
            {row.map((cell, m) => (
              <td key={m}>{inlines(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const inlines = (tokens: Token[] | undefined): ComponentChildren[] => (tokens ?? []).map(inline);

function inline(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      if (/^__\w+__$/.test(token.raw)) return token.raw; // __init__ is a name
      return <strong key={key}>{inlines(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inlines(token.tokens)}</em>;
    case "del":
      return <s key={key}>{inlines(token.tokens)}</s>;
    case "codespan":
      return <code key={key}>{unescaped((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return link(token as Tokens.Link, key);
    case "image":
      return picture(token as Tokens.Image, key);
    case "escape":
      return (token as Tokens.Escape).text;
    case "text":
      return "tokens" in token && token.tokens ? inlines(token.tokens) : unescaped((token as Tokens.Text).text);
    default:
      return pieces(token.raw); // HTML too: shown, not obeyed
  }
}

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url);

/** A link is followed only to the web, in a window that knows nothing of this page; of another one stands where it
 * would lead to. */
function link(token: Tokens.Link, key: number): ComponentChildren {
  const { href, text, title } = token;
  return (
    <Fragment key={key}>
      {isWeb(href) ? away(href, inlines(token.tokens)) : inlines(token.tokens)}
      {isWeb(href) || href.replace(/^mailto:/, "") === text ? null : <span class="dim mono"> ({pieces(href)})</span>}
      {titled(title)}
    </Fragment>
  );
}

/** Pictures that the text holds are shown; one on the web would be a request to it, so it stays a link. */
function picture(token: Tokens.Image, key: number): ComponentChildren {
  const { href, text, title } = token;
  if (!isPicture(href) && !isWeb(href)) return pieces(token.raw);
  return (
    <Fragment key={key}>
      {isPicture(href) ? <img class="picture" src={href} alt={text} title={text} /> : away(href, text || href)}
      {titled(title)}
    </Fragment>
  );
}

const away = (href: string, content: ComponentChildren): JSX.Element => (
  <a href={href} target="_blank" rel="noreferrer noopener" title={href}>
    {content}
  </a>
);

const titled = (title: string | null | undefined): ComponentChildren => (title ? <span class="dim"> “{pieces(title)}”</span> : null);

export const isPicture = (url: string): boolean => /^data:image\/(png|jpeg|gif|webp);base64,/i.test(url);

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };

const unescaped = (text: string): ComponentChildren =>
  pieces(text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ""));
