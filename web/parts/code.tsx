/** Code with a copy button, and light colours for what all languages have in common. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { visible } from "../core/visible.ts";
import { CopyButton } from "./copy.tsx";
import { colourDiff } from "./diff.tsx";

const MOST_COLOURED = 50_000;
/** Comments, strings, numbers and common words: enough for any language, in one pass. */
const PIECES =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?:^|\s)#[^\n]*)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\b(\d[\d._]*)\b|\b(async|await|break|case|catch|class|const|continue|def|elif|else|enum|export|extends|false|finally|fn|for|from|func|function|if|impl|import|in|interface|let|match|mod|new|nil|None|null|of|package|pub|return|self|static|struct|super|switch|this|throw|true|True|False|try|type|undefined|use|var|while|with|yield)\b/g;
const TONES = ["", "comment", "text", "number", "word"] as const;

export function Code({
  text,
  language = "",
}: {
  readonly text: string;
  readonly language?: string;
}) {
  const shown = useMemo(
    () => (/^diff|patch$/.test(language) ? colourDiff(text) : colour(visible(text))),
    [text, language],
  );
  return (
    <div class="code">
      <div class="code-head">
        <span>{language}</span>
        <CopyButton text={text} brief />
      </div>
      <pre tabIndex={0}>{shown}</pre>
    </div>
  );
}

/** A value as JSON with line breaks. */
export function Json({
  value,
  name = "JSON",
}: {
  readonly value: unknown;
  readonly name?: string;
}) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "", [value]);
  return <Code text={text} language={name} />;
}

function colour(text: string): ComponentChildren {
  if (text.length > MOST_COLOURED) return text;
  const out: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(PIECES)) {
    const kind = found.slice(1).findIndex((group) => group !== undefined) + 1;
    out.push(text.slice(from, found.index), <span class={`code-${TONES[kind]}`}>{found[0]}</span>);
    from = found.index + found[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/** JSON text with line breaks; other text unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
