/** A prompt and its answer in the playground. */

import { toHref } from "../../core/address.ts";
import { Code, pretty } from "../../parts/code.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Markdown, OpenMarkdown } from "../../parts/markdown.tsx";
import { Status } from "../../parts/status.tsx";
import { toRunId } from "./stream-turn.ts";
import type { Turn, TurnCall } from "./wish.ts";

export function TurnView({ turn }: { readonly turn: Turn }) {
  const { prompt, files, text, thinking, id, calls, note, failed, isOpen } = turn;
  return (
    <>
      {(prompt !== "" || files.length > 0) && (
        <article class="block user" aria-label="user">
          <b>User</b>
          <pre class="plain said">{prompt}</pre>
          {files.map(({ name }, at) => (
            <span key={at} class="chip">
              {name}
            </span>
          ))}
        </article>
      )}
      <article class="block assistant" aria-label="assistant">
        <header class="row spread">
          <b>Assistant</b>
          <span class="row tight">
            {id !== "" && (
              <a href={toHref(`runs/${encodeURIComponent(toRunId(id))}`)}>Open the run</a>
            )}
            {text !== "" && <CopyButton text={text} brief />}
          </span>
        </header>
        {thinking !== "" && (
          <details class="item">
            <summary>Thinking</summary>
            <pre class="plain said">{thinking}</pre>
          </details>
        )}
        {calls.map((call) => (
          <CallLine key={call.id} call={call} />
        ))}
        {isOpen ? (
          <OpenMarkdown text={text || (note === "" ? "…" : "")} />
        ) : (
          <Markdown text={text} />
        )}
        {note !== "" && (
          <p class={failed ? "notice bad" : "turn quiet"} role={failed ? "alert" : undefined}>
            {note}
          </p>
        )}
      </article>
    </>
  );
}

function CallLine({ call: { name, given, output, failed } }: { readonly call: TurnCall }) {
  const state = output === undefined ? "running" : failed ? "failed" : "completed";
  return (
    <details class="item">
      <summary class="row fixed">
        <Status state={state} brief />
        <b class="mono">{name}</b>
        <span class="clip grow quiet mono">{given.slice(0, 160)}</span>
      </summary>
      <div class="stack tight">
        {given !== "" && <Code text={pretty(given)} language="arguments" />}
        {output !== undefined && <Code text={pretty(output)} language="result" />}
      </div>
    </details>
  );
}
