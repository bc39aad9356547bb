/** What the model saw and said, turn by turn, live. Only blocks that can be seen are in the page's layout. */

import type { Signal } from "@preact/signals";
import { memo } from "preact/compat";
import { toHref } from "../../core/address.ts";
import { toCount, toMoney } from "../../core/format.ts";
import { Code, CopyButton, colourDiff } from "../../parts/code.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Status } from "../../parts/status.tsx";
import type { Block, CallBlock, Conversation } from "./conversation-model.ts";

/** A longer text is cut until somebody asks for it. */
const SHOWN_CHARS = 20_000;

export function ConversationTab({ conversation }: { readonly conversation: Signal<Conversation> }) {
  const { blocks } = conversation.value;
  if (blocks.length === 0) return <Empty title="Nothing has been said yet." />;
  return (
    <div class="conversation">
      {blocks.map((block) => (
        <BlockView key={block.key} block={block} />
      ))}
    </div>
  );
}

/** A finished block is the same object for ever, so it is drawn once. */
const BlockView = memo(({ block }: { readonly block: Block }) => {
  switch (block.kind) {
    case "words":
      return block.who === "system" ? (
        <details class="block system">
          <summary>Instructions ({toCount(block.text.length)} characters)</summary>
          <pre class="plain">{block.text.slice(0, SHOWN_CHARS)}</pre>
        </details>
      ) : (
        <section class={`block ${block.who}`} aria-label={block.who}>
          <header class="row spread">
            <b>{block.who === "user" ? "User" : "Assistant"}</b>
            <CopyButton text={block.text} />
          </header>
          {block.who === "user" ? (
            <pre class="plain">{block.text.slice(0, SHOWN_CHARS)}</pre>
          ) : (
            <Said text={block.text} isOpen={block.isOpen} />
          )}
        </section>
      );
    case "thinking":
      return (
        <details class="block thinking" open={block.isOpen}>
          <summary>Thinking</summary>
          <pre class="plain">{block.text.slice(0, SHOWN_CHARS)}</pre>
        </details>
      );
    case "call":
      return <CallView call={block.call} />;
    case "turn":
      return (
        <p class="turn quiet">
          turn {block.turn} · {toCount(block.tokens)} tokens · {toMoney(block.usd)}
          {block.model ? ` · ${block.model}` : ""}
        </p>
      );
    case "child":
      return (
        <p class="block child row">
          <Status state={block.ending ?? "running"} />
          subagent{" "}
          <a href={toHref(`runs/${encodeURIComponent(block.id)}`)}>{block.label || block.id}</a>
        </p>
      );
    case "note":
      return block.text === "" ? null : <p class={`note ${block.tone}`}>{block.text}</p>;
  }
});

/** While an answer comes it is one text; it is parsed as Markdown once it is whole. */
function Said({ text, isOpen }: { readonly text: string; readonly isOpen: boolean }) {
  return isOpen ? <pre class="plain">{text}</pre> : <Markdown text={text} />;
}

function CallView({ call }: { readonly call: CallBlock }) {
  const { name, given, decision, output, failed, isDenied } = call;
  const state = isDenied
    ? "refused"
    : output === undefined
      ? "running"
      : failed
        ? "failed"
        : "completed";
  return (
    <details class="block call">
      <summary class="row">
        <Status state={state} brief />
        <b class="mono">{name || "tool"}</b>
        <span class="clip grow quiet mono">{given.replace(/\s+/g, " ").slice(0, 200)}</span>
      </summary>
      <Code text={pretty(given)} language="arguments" />
      {decision !== "" && <p class={isDenied ? "bad" : "quiet"}>{decision}</p>}
      {output !== undefined && <Output text={output} />}
    </details>
  );
}

function Output({ text }: { readonly text: string }) {
  const isDiff = /^(---|diff --git|@@) /m.test(text.slice(0, 500));
  if (isDiff) return <pre class="code-diff">{colourDiff(text.slice(0, SHOWN_CHARS))}</pre>;
  return (
    <Code
      text={
        text.length > SHOWN_CHARS
          ? `${text.slice(0, SHOWN_CHARS)}\n… ${text.length - SHOWN_CHARS} characters more, in the raw events`
          : text
      }
      language="result"
    />
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
