/**
 * One block of a conversation. It reads its own signal, so that a growing block redraws only itself.
 */

import { memo } from "preact/compat";
import { toHref } from "../../core/address.ts";
import { toCount, toMoney } from "../../core/format.ts";
import { Code, pretty } from "../../parts/code.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Diff } from "../../parts/diff.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Markdown, OpenMarkdown } from "../../parts/markdown.tsx";
import { Status } from "../../parts/status.tsx";
import type { Block, CallBlock } from "./blocks.ts";
import type { Cell } from "./conversation-store.ts";
import { LongText } from "./long-text.tsx";
import { Pictures } from "./pictures.tsx";

interface BlockProps {
  readonly cell: Cell;
  readonly run: string;
}

/** A longer text is cut until the person asks for the rest. */
const SHOWN_CHARS = 20_000;

export const BlockView = memo(({ cell, run }: BlockProps) => {
  const block = cell.block.value;
  switch (block.kind) {
    case "words":
      return block.who === "system" ? <Instructions block={block} /> : <Words block={block} />;
    case "thinking":
      return (
        <details class="block thinking" open={block.isOpen}>
          <summary>Thinking</summary>
          <pre class="plain said">{block.text.slice(0, SHOWN_CHARS)}</pre>
          <LongText rest={block.rest} />
        </details>
      );
    case "call":
      return <CallView call={block.call} run={run} />;
    case "turn":
      return <TurnLine block={block} />;
    case "child":
      return (
        <p class="block child row">
          <Icon name="branch" />
          <span>
            Subagent{" "}
            <a href={toHref(`runs/${encodeURIComponent(block.id)}`)}>{block.label || block.id}</a>
          </span>
          <Status state={block.ending ?? "running"} />
        </p>
      );
    case "note":
      return block.text === "" ? null : <p class={`note ${block.tone}`}>{block.text}</p>;
  }
});

type WordsBlock = Extract<Block, { kind: "words" }>;

function Instructions({ block }: { readonly block: WordsBlock }) {
  return (
    <details class="block system">
      <summary>Instructions, {toCount(block.rest?.length ?? block.text.length)} characters</summary>
      <pre class="plain said">{block.text.slice(0, SHOWN_CHARS)}</pre>
      <LongText rest={block.rest} />
    </details>
  );
}

function Words({ block }: { readonly block: WordsBlock }) {
  const { who, text, isOpen, rest, pictures } = block;
  return (
    <article class={`block ${who}`} aria-label={who}>
      <header class="row spread">
        <b>{who === "user" ? "User" : "Assistant"}</b>
        <CopyButton text={text} brief />
      </header>
      {who === "user" || rest ? (
        <pre class="plain said">{text}</pre>
      ) : isOpen ? (
        <OpenMarkdown text={text} />
      ) : (
        <Markdown text={text} />
      )}
      <LongText rest={rest} />
      <Pictures urls={pictures} />
    </article>
  );
}

function TurnLine({ block }: { readonly block: Extract<Block, { kind: "turn" }> }) {
  return (
    <p class="turn quiet">
      Turn {block.turn}, {toCount(block.tokens)} tokens, {toMoney(block.usd)}
      {block.model ? `, ${block.model}` : ""}
    </p>
  );
}

function stateOf({ isDenied, output, failed, decision }: CallBlock): string {
  if (isDenied) return "denied";
  if (output === undefined) return decision === "waits for approval" ? "waiting" : "running";
  return failed ? "failed" : "completed";
}

function CallView({ call, run }: { readonly call: CallBlock; readonly run: string }) {
  const { name, given, decision, output, isDenied, at } = call;
  return (
    <details class="block call">
      <summary class="row fixed">
        <Status state={stateOf(call)} brief />
        <b class="mono">{name || "tool"}</b>
        <span class="clip grow quiet mono">{given.replace(/\s+/g, " ").slice(0, 200)}</span>
      </summary>
      <div class="stack tight">
        <Code text={pretty(given).slice(0, SHOWN_CHARS)} language="arguments" />
        {decision !== "" && <p class={isDenied ? "bad" : "quiet"}>{decision}</p>}
        {output !== undefined && <Output text={output} />}
        <LongText rest={call.rest} />
        <Pictures urls={call.pictures} />
        {at !== undefined && (
          <p>
            <a
              href={toHref(
                `runs/${encodeURIComponent(run)}?node=${encodeURIComponent(`${run}:${at}`)}`,
              )}
            >
              This call in the tree
            </a>
          </p>
        )}
      </div>
    </details>
  );
}

function Output({ text }: { readonly text: string }) {
  const shown = text.slice(0, SHOWN_CHARS);
  if (/^(---|diff --git|@@) /m.test(text.slice(0, 500))) return <Diff text={shown} />;
  return <Code text={shown} language="result" />;
}
