/**
 * Markdown as elements. Tokens of the lexer become vnodes, so a model's text is never HTML. Pictures are a button
 * until the person asks for them, because fetching one tells its server what was said.
 */

import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useMemo, useRef, useState } from "preact/hooks";
import { cutStable } from "../core/stable-text.ts";
import { Code } from "./code.tsx";

/** A longer text is shown unformatted: lexing 100 kB takes about 100 ms. */
const MOST_CHARACTERS = 200_000;

export const Markdown = memo(({ text }: { readonly text: string }) => {
  const tokens = useMemo(() => read(text), [text]);
  if (!tokens) return <pre class="plain said">{text}</pre>;
  return <div class="markdown">{tokens.map(block)}</div>;
});

/**
 * A text that still grows. Finished blocks are parsed once; only the last, open block is parsed again with each
 * piece.
 */
export function OpenMarkdown({ text }: { readonly text: string }) {
  const done = useRef<{ readonly pieces: string[]; length: number }>({ pieces: [], length: 0 });
  const kept = done.current;
  if (text.length < kept.length) done.current = { pieces: [], length: 0 };
  const cut = cutStable(text, done.current.length);
  if (cut > done.current.length) {
    done.current.pieces.push(text.slice(done.current.length, cut));
    done.current.length = cut;
  }
  return (
    <div class="markdown">
      {done.current.pieces.map((piece, at) => (
        <Markdown key={at} text={piece} />
      ))}
      <Markdown text={text.slice(done.current.length)} />
    </div>
  );
}

/** The lexer overflows the stack on thousands of nested quotes: such a text is shown plain. */
function read(text: string): Token[] | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  try {
    return lexer(text);
  } catch {
    return undefined;
  }
}

function block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    // Not part of the page's outline: a model must not make headings that look like the console's.
    case "heading":
      return (
        <p key={key} class="said-heading">
          {inline(token)}
        </p>
      );
    case "paragraph":
      return <p key={key}>{inline(token)}</p>;
    case "code":
      return (
        <Code
          key={key}
          text={(token as Tokens.Code).text}
          language={(token as Tokens.Code).lang ?? ""}
        />
      );
    case "blockquote":
      return <blockquote key={key}>{(token as Tokens.Blockquote).tokens.map(block)}</blockquote>;
    case "list":
      return list(token as Tokens.List, key);
    case "table":
      return table(token as Tokens.Table, key);
    case "hr":
      return <hr key={key} />;
    case "space":
    case "def":
      return null;
    case "text":
      return <span key={key}>{inline(token)}</span>;
    default:
      return (
        <pre key={key} class="plain">
          {token.raw}
        </pre>
      );
  }
}

function list(token: Tokens.List, key: number): ComponentChildren {
  const items = token.items.map((item, at) => (
    <li key={at}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label="task" />
      )}
      {item.tokens.map(block)}
    </li>
  ));
  if (!token.ordered) return <ul key={key}>{items}</ul>;
  return (
    <ol key={key} start={Number(token.start) || 1}>
      {items}
    </ol>
  );
}

function table(token: Tokens.Table, key: number): ComponentChildren {
  return (
    <div class="table" key={key} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at}>{cell.tokens.map(span)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{cell.tokens.map(span)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(token: Token): ComponentChildren {
  const inner = (token as { tokens?: Token[] }).tokens;
  return inner ? inner.map(span) : unescapeText((token as { text?: string }).text ?? token.raw);
}

function span(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inline(token)}</strong>;
    case "em":
      return <em key={key}>{inline(token)}</em>;
    case "del":
      return <del key={key}>{inline(token)}</del>;
    case "codespan":
      return <code key={key}>{unescapeText((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return <OutsideLink key={key} href={(token as Tokens.Link).href} children={inline(token)} />;
    case "image":
      return (
        <Picture
          key={key}
          href={(token as Tokens.Image).href}
          text={(token as Tokens.Image).text}
        />
      );
    case "html":
      return token.raw;
    case "checkbox":
      return null;
    default:
      return inline(token);
  }
}

/** Only web addresses become links, and they show where they lead. */
function OutsideLink({
  href,
  children,
}: {
  readonly href: string;
  readonly children: ComponentChildren;
}) {
  if (!/^https?:\/\//i.test(href)) return <>{children}</>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

export function Picture({ href, text }: { readonly href: string; readonly text: string }) {
  const [shown, show] = useState(false);
  const isData = /^data:image\/(png|jpeg|gif|webp);/i.test(href);
  if (isData && shown) return <img class="shown-picture" src={href} alt={text} />;
  return (
    <span class="picture" title={href.slice(0, 300)}>
      [picture: {text || "without a text"}
      {isData ? (
        <button type="button" class="small" onClick={() => show(true)}>
          show
        </button>
      ) : (
        ` at ${href.slice(0, 120)}, not loaded`
      )}
      ]
    </span>
  );
}

/** The lexer escapes text for HTML in a few places; here it is text again. */
function unescapeText(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
