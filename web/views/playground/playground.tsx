/**
 * A prompt to any model with tools, files, a schema and agents. It is a stored response, so it is a run like any
 * other.
 */

import { useEffect, useRef } from "preact/hooks";
import { address, toHref } from "../../core/address.ts";
import { plural } from "../../core/format.ts";
import { CopyAs } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, ViewHead } from "../../parts/loaded.tsx";
import { PromptBox } from "./prompt-box.tsx";
import { PlaygroundSettings } from "./settings.tsx";
import { stopTurn, streamTurn } from "./stream-turn.ts";
import { TurnView } from "./turn-view.tsx";
import { beginAgain, change, problemOf, toBody, turns, wish } from "./wish.ts";

export function PlaygroundView() {
  const stop = useRef<AbortController | undefined>(undefined);
  const end = useRef<HTMLDivElement>(null);
  useAddress();
  const last = turns.value.at(-1);
  const isBusy = last?.isOpen ?? false;
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [turns.value]);
  const ask = (): void => {
    if (problemOf(wish.value) !== "" || isBusy) return;
    stop.current = new AbortController();
    void streamTurn(wish.value, stop.current.signal);
    change({ prompt: "", files: [] });
  };
  const stopNow = async (): Promise<void> => {
    await stopTurn(last).catch(() => stop.current?.abort());
    if (!last?.id) stop.current?.abort();
  };
  return (
    <div class="view">
      <ViewHead title="Playground" about="Every answer is stored as a run.">
        <CopyAs request={() => ({ method: "POST", path: "responses", body: toCopied() })} />
        <button
          type="button"
          disabled={isBusy || (turns.value.length === 0 && !hasPast())}
          onClick={beginAgain}
        >
          <Icon name="plus" /> New conversation
        </button>
      </ViewHead>
      <div class="playground">
        <PlaygroundSettings />
        <div class="chat">
          <section class="conversation" aria-label="Conversation" aria-busy={isBusy} tabIndex={0}>
            <Past />
            {turns.value.map((turn, at) => (
              <TurnView key={at} turn={turn} />
            ))}
            {turns.value.length === 0 && !hasPast() && (
              <Empty title="Ask something." icon="play">
                Choose a model and tools on the side. A file can be attached to the prompt.
              </Empty>
            )}
            <div ref={end} />
          </section>
          <PromptBox isBusy={isBusy} ask={ask} stop={() => void stopNow()} />
        </div>
      </div>
    </div>
  );
}

/** A link may name the response to continue, and the model. It never names the server. */
function useAddress(): void {
  const { query } = address.value;
  const conversation = query.get("conversation") ?? "";
  const previous = query.get("previous") ?? "";
  const model = query.get("model") ?? "";
  useEffect(() => {
    if (conversation === "" && previous === "") return;
    const peek = wish.peek();
    if (peek.conversation === conversation && peek.previous === previous) return;
    turns.value = [];
    change({ conversation, previous, given: [] });
  }, [conversation, previous]);
  useEffect(() => {
    if (model !== "") change({ model });
  }, [model]);
}

function hasPast(): boolean {
  const { given, conversation, previous } = wish.value;
  return given.length > 0 || conversation !== "" || previous !== "";
}

/** Shows the conversation or response that the first prompt continues. */
function Past() {
  const { given, conversation, previous } = wish.value;
  if (!hasPast()) return null;
  return (
    <p class="notice live">
      <Icon name="branch" />
      <span class="grow">
        {conversation ? (
          <>
            Continues session <a href={toHref(`sessions/${conversation}`)}>{conversation}</a>
          </>
        ) : previous ? (
          <>
            Continues <a href={toHref(`runs/${previous.replace(/^resp_/, "run_")}`)}>{previous}</a>
          </>
        ) : (
          `Sends a recorded model call again, with ${plural(given.length, "item")} before the prompt`
        )}
      </span>
    </p>
  );
}

/** The request that would be sent now; without the schema if that is not JSON. */
function toCopied(): object {
  const asked = wish.peek();
  const follows = turns.peek().findLast(({ id }) => id !== "")?.id;
  try {
    return toBody(asked, follows);
  } catch {
    return toBody({ ...asked, schema: "" }, follows);
  }
}
