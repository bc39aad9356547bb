/** Code, with a button that copies it, and light colours for what every language shares. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const MOST_COLOURED = 50_000;
/** Comments, texts, numbers and common words: enough to read by, in any language, in one pass. */
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
  return (
    <div class="code">
      <div class="code-head">
        <span class="quiet">{language}</span>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0}>{/^diff|patch$/.test(language) ? colourDiff(text) : colour(text)}</pre>
    </div>
  );
}

export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const [said, say] = useState(label);
  return (
    <button
      type="button"
      class="small"
      onClick={() => {
        navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
          () => say("Copied"),
          () => say("The browser refused"),
        );
        setTimeout(() => say(label), 1500);
      }}
    >
      {said}
    </button>
  );
}

/** Each line of a diff with its sign and a colour. */
export function colourDiff(text: string): ComponentChildren {
  return text.split("\n").map((line, at) => {
    const tone = line.startsWith("+")
      ? "added"
      : line.startsWith("-")
        ? "removed"
        : line.startsWith("@@")
          ? "place"
          : "";
    return <span key={at} class={`line ${tone}`}>{`${line}\n`}</span>;
  });
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
