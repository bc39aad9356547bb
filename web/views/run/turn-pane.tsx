/** A model call: the exact request, and the answer. */

import { useSignal } from "@preact/signals";
import { go } from "../../core/address.ts";
import { toCount, toDuration, toMoney } from "../../core/format.ts";
import { mayDo } from "../../core/session.ts";
import type { TurnStep } from "../../core/views.ts";
import { Json } from "../../parts/code.tsx";
import { CopyAs } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { takeRequest } from "../playground/wish.ts";
import { Facts } from "./facts.tsx";
import { type Fields, textOf } from "./item-text.ts";
import { Items } from "./items.tsx";

const PARTS = ["Answer", "Request"] as const;

export function TurnPane({ step }: { readonly step: TurnStep }) {
  const part = useSignal<(typeof PARTS)[number]>("Answer");
  const { usage, request } = step;
  const tokens = usage as { input_tokens?: number; output_tokens?: number } | null;
  const cached = (usage?.["input_tokens_details"] as { cached_tokens?: number } | undefined)
    ?.cached_tokens;
  return (
    <>
      <div class="row spread">
        <h2>Turn {step.turn}</h2>
        <div class="row">
          <CopyAs request={() => ({ method: "POST", path: "responses", body: request })} />
          {mayDo("responses") && (
            <button
              type="button"
              onClick={() => {
                takeRequest(request);
                go("playground");
              }}
            >
              <Icon name="branch" /> Change and ask again
            </button>
          )}
        </div>
      </div>
      <Facts
        of={{
          Model: textOf(step.by?.["model"]) || textOf(request["model"]),
          In: tokens ? toCount(tokens.input_tokens) : undefined,
          Cached: cached ? toCount(cached) : undefined,
          Out: tokens ? toCount(tokens.output_tokens) : undefined,
          Cost: tokens ? toMoney(step.cost_usd) : undefined,
          Took:
            step.ended_at_ms === null ? "open" : toDuration(step.ended_at_ms - step.started_at_ms),
          Ended: step.reason ?? undefined,
        }}
      />
      {step.notices.map(({ code, message }, at) => (
        <p key={at} class="quiet">
          <span class="chip">{code}</span> {message}
        </p>
      ))}
      <div class="tabs" role="tablist" aria-label="Parts of the call">
        {PARTS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={part.value === name}
            onClick={() => {
              part.value = name;
            }}
          >
            {name}
          </button>
        ))}
      </div>
      {part.value === "Answer" ? <Answer step={step} /> : <Request step={step} />}
    </>
  );
}

function Answer({ step }: { readonly step: TurnStep }) {
  if (step.output.length > 0) return <Items items={step.output} />;
  return (
    <Empty title={step.ended_at_ms === null ? "No answer yet." : "An empty answer."} icon="turn" />
  );
}

function Request({ step: { request, before } }: { readonly step: TurnStep }) {
  const { input, instructions, tools, ...parameters } = request;
  const items = Array.isArray(input) ? input : [];
  const offered = (Array.isArray(tools) ? tools : []) as readonly Fields[];
  return (
    <div class="stack tight">
      {before === "deleted" && (
        <p class="notice warn">What was said before this run is deleted, and missing here.</p>
      )}
      <details class="item">
        <summary>Instructions, {toCount(textOf(instructions).length)} characters</summary>
        <pre class="plain said">{textOf(instructions)}</pre>
      </details>
      <details class="item">
        <summary>
          {offered.length} tools:{" "}
          {offered.map((tool) => textOf(tool["name"]) || textOf(tool["type"])).join(", ") || "none"}
        </summary>
        <Json value={tools ?? []} name="Tools" />
      </details>
      <details class="item">
        <summary>Parameters</summary>
        <Json value={parameters} name="Parameters" />
      </details>
      <h3>Conversation, {toCount(items.length)} items</h3>
      <Items items={items} />
    </div>
  );
}
