/** Shows changes: the lines of a unified diff, and the words in which two texts differ. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { compareWords } from "../core/compare-words.ts";
import { visible } from "../core/visible.ts";

export function Diff({ text }: { readonly text: string }) {
  const lines = useMemo(() => colourDiff(text), [text]);
  return (
    <pre class="diff" tabIndex={0}>
      {lines}
    </pre>
  );
}

/** Each line of a diff with its sign and a colour. */
export function colourDiff(text: string): ComponentChildren {
  return visible(text)
    .split("\n")
    .map((line, at) => <span key={at} class={`line ${toneOf(line)}`}>{`${line}\n`}</span>);
}

function toneOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}

/** One side of two texts: words that only this one has are marked. */
export function Words({
  a,
  b,
  side,
}: {
  readonly a: string;
  readonly b: string;
  readonly side: "a" | "b";
}) {
  const pieces = useMemo(() => compareWords(a, b), [a, b]);
  return (
    <pre class="plain">
      {pieces
        .filter(({ of }) => of === "both" || of === side)
        .map(({ text, of }, at) =>
          of === "both" ? (
            text
          ) : side === "a" ? (
            <del key={at} class="word">
              {text}
            </del>
          ) : (
            <ins key={at} class="word">
              {text}
            </ins>
          ),
        )}
    </pre>
  );
}
