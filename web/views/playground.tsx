/** A prompt to any model with tools, files and a schema. It is a stored response, so it is a run like any other. */

import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { toHref } from "../core/address.ts";
import { get, send } from "../core/api.ts";
import { toBytes, toCount } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { API } from "../core/session.ts";
import { readEvents } from "../core/sse.ts";
import { CopyButton } from "../parts/code.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Markdown } from "../parts/markdown.tsx";

const TOOLS = ["web_search", "code_interpreter", "image_generation"] as const;
const EFFORTS = ["", "none", "low", "medium", "high"] as const;
/** Files are sent inside the request; larger ones belong into a vector store. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

interface Attached {
  readonly name: string;
  readonly size: number;
  readonly url: string;
}

interface Turn {
  readonly prompt: string;
  readonly text: string;
  readonly id: string;
  readonly steps: readonly string[];
  readonly note: string;
  readonly isOpen: boolean;
}

interface Wish {
  readonly model: string;
  readonly instructions: string;
  readonly prompt: string;
  readonly tools: readonly string[];
  readonly files: readonly Attached[];
  readonly schema: string;
  readonly effort: string;
  readonly before: string | undefined;
}

export function PlaygroundView() {
  const turns = useSignal<readonly Turn[]>([]);
  const wish = useSignal<Omit<Wish, "before">>({
    ...{ model: "", instructions: "", prompt: "", tools: [], files: [], schema: "", effort: "" },
  });
  const stop = useRef<AbortController | undefined>(undefined);
  const isBusy = turns.value.at(-1)?.isOpen ?? false;
  const ask = (): void => {
    stop.current = new AbortController();
    const before = turns.value.findLast(({ id }) => id !== "")?.id;
    void runTurn({ ...wish.value, before }, turns, stop.current.signal);
    wish.value = { ...wish.value, prompt: "", files: [] };
  };
  return (
    <div class="view">
      <header>
        <h1>Playground</h1>
        <div class="row">
          <CopyButton label="Copy as curl" text={() => toCurl(wish.value)} />
          <button
            type="button"
            disabled={turns.value.length === 0}
            onClick={() => {
              turns.value = [];
            }}
          >
            New conversation
          </button>
        </div>
      </header>
      <div class="playground">
        <Settings wish={wish} />
        <div class="chat">
          <div class="conversation" aria-busy={isBusy}>
            {turns.value.map((turn, at) => (
              <TurnView key={at} turn={turn} />
            ))}
          </div>
          <Prompt wish={wish} isBusy={isBusy} ask={ask} stop={() => stop.current?.abort()} />
        </div>
      </div>
    </div>
  );
}

function Settings({ wish }: { readonly wish: Signal<Omit<Wish, "before">> }) {
  const models = useResource("models", (signal) =>
    get<{ data: readonly { id: string }[] }>("models", {}, signal),
  );
  const set = (change: Partial<Wish>): void => {
    wish.value = { ...wish.value, ...change };
  };
  return (
    <aside class="panel">
      <div class="body">
        <Loaded of={models}>
          {({ data }) => (
            <label class="field">
              <span>Model</span>
              <input
                type="text"
                list="models"
                value={wish.value.model}
                placeholder={data[0]?.id ?? "vendor/model"}
                onInput={(event) => set({ model: event.currentTarget.value })}
              />
              <datalist id="models">
                {data.map(({ id }) => (
                  <option key={id} value={id} />
                ))}
              </datalist>
            </label>
          )}
        </Loaded>
        <label class="field">
          <span>Instructions</span>
          <textarea
            value={wish.value.instructions}
            onInput={(event) => set({ instructions: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Reasoning effort</span>
          <select
            value={wish.value.effort}
            onChange={(event) => set({ effort: event.currentTarget.value })}
          >
            {EFFORTS.map((word) => (
              <option key={word} value={word}>
                {word || "as the model has it"}
              </option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Tools</legend>
          {TOOLS.map((tool) => (
            <label key={tool} class="row">
              <input
                type="checkbox"
                checked={wish.value.tools.includes(tool)}
                onChange={() =>
                  set({
                    tools: wish.value.tools.includes(tool)
                      ? wish.value.tools.filter((one) => one !== tool)
                      : [...wish.value.tools, tool],
                  })
                }
              />
              {tool}
            </label>
          ))}
        </fieldset>
        <label class="field">
          <span>JSON schema of the answer</span>
          <textarea
            class="mono"
            value={wish.value.schema}
            placeholder='{"type":"object", …}'
            onInput={(event) => set({ schema: event.currentTarget.value })}
          />
        </label>
      </div>
    </aside>
  );
}

interface PromptProps {
  readonly wish: Signal<Omit<Wish, "before">>;
  readonly isBusy: boolean;
  ask(): void;
  stop(): void;
}

function Prompt({ wish, isBusy, ask, stop }: PromptProps) {
  const said = useSignal("");
  const attach = async (list: FileList | null): Promise<void> => {
    for (const file of list ?? []) {
      if (file.size > MAX_FILE_BYTES) {
        said.value = `${file.name} has ${toBytes(file.size)}; ${toBytes(MAX_FILE_BYTES)} at most. Larger files belong into a vector store.`;
        continue;
      }
      const url = await readAsUrl(file);
      wish.value = {
        ...wish.value,
        files: [...wish.value.files, { name: file.name, size: file.size, url }],
      };
    }
  };
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        aria-label="Prompt"
        placeholder="Ask something. Ctrl-Enter sends."
        value={wish.value.prompt}
        onInput={(event) => {
          wish.value = { ...wish.value, prompt: event.currentTarget.value };
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isBusy) return;
          event.preventDefault();
          ask();
        }}
      />
      <div class="row spread">
        <div class="row">
          <label class="button">
            Attach
            <input
              type="file"
              multiple
              class="hidden-text"
              onChange={(event) => void attach(event.currentTarget.files)}
            />
          </label>
          {wish.value.files.map(({ name, size }) => (
            <span key={name} class="quiet">
              {name} ({toBytes(size)})
            </span>
          ))}
        </div>
        {isBusy ? (
          <button type="button" class="danger" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={wish.value.prompt.trim() === ""}>
            Send
          </button>
        )}
      </div>
      {said.value !== "" && (
        <p class="problem" role="alert">
          {said.value}
        </p>
      )}
    </form>
  );
}

function TurnView({ turn }: { readonly turn: Turn }) {
  const { prompt, text, id, steps, note, isOpen } = turn;
  return (
    <>
      <section class="block user">
        <b>User</b>
        <pre class="plain">{prompt}</pre>
      </section>
      <section class="block assistant">
        <header class="row spread">
          <b>Assistant</b>
          {id !== "" && (
            <a href={toHref(`runs/${encodeURIComponent(toRunId(id))}`)}>Open the run</a>
          )}
        </header>
        {steps.map((step) => (
          <p key={step} class="quiet">
            {step}
          </p>
        ))}
        {isOpen ? <pre class="plain">{text || "…"}</pre> : <Markdown text={text} />}
        {note !== "" && (
          <p class={note.startsWith("!") ? "problem" : "turn quiet"}>{note.replace(/^!/, "")}</p>
        )}
      </section>
    </>
  );
}

/** The run of a response has the response's name, but for what it is. */
function toRunId(id: string): string {
  return id.replace(/^resp_/, "run_");
}

/** Streams one response into the last turn. What fails is a note there; the prompt is not lost. */
async function runTurn(
  wish: Wish,
  turns: Signal<readonly Turn[]>,
  signal: AbortSignal,
): Promise<void> {
  const before = turns.value;
  let turn: Turn = { prompt: wish.prompt, text: "", id: "", steps: [], note: "", isOpen: true };
  const show = (change: Partial<Turn>): void => {
    turn = { ...turn, ...change };
    turns.value = [...before, turn];
  };
  show({});
  try {
    const init = {
      method: "POST",
      body: JSON.stringify(toBody(wish)),
      headers: { "content-type": "application/json" },
      signal,
    };
    const response = await send("responses", init);
    for await (const event of readEvents(response)) show(toChange(turn, event as StreamedEvent));
    show({ isOpen: false });
  } catch (failure) {
    const note = signal.aborted
      ? "!Stopped."
      : `!${failure instanceof Error ? failure.message : String(failure)}`;
    show({ isOpen: false, note });
  }
}

interface StreamedEvent {
  readonly type: string;
  readonly delta?: string;
  readonly item?: { readonly type: string; readonly name?: string };
  readonly response?: {
    readonly id: string;
    readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
    readonly error?: { readonly message: string } | null;
  };
}

function toChange(turn: Turn, event: StreamedEvent): Partial<Turn> {
  switch (event.type) {
    case "response.created":
      return { id: event.response?.id ?? "" };
    case "response.output_text.delta":
      return { text: turn.text + (event.delta ?? "") };
    case "response.output_item.added":
      return /_call$/.test(event.item?.type ?? "")
        ? {
            steps: [
              ...turn.steps,
              `${turn.steps.length + 1}. ${event.item?.name ?? event.item?.type}`,
            ],
          }
        : {};
    case "response.completed":
    case "response.incomplete": {
      const usage = event.response?.usage;
      return {
        note: usage
          ? `${toCount(usage.input_tokens)} tokens in, ${toCount(usage.output_tokens)} out`
          : "",
      };
    }
    case "response.failed":
      return { note: `!${event.response?.error?.message ?? "The response failed."}` };
    default:
      return {};
  }
}

function toBody({
  model,
  instructions,
  prompt,
  tools,
  files,
  schema,
  effort,
  before,
}: Wish): object {
  const content = [
    { type: "input_text", text: prompt },
    ...files.map(({ name, url }) =>
      url.startsWith("data:image/")
        ? { type: "input_image", image_url: url }
        : { type: "input_file", filename: name, file_data: url },
    ),
  ];
  return {
    ...(model ? { model } : {}),
    ...(instructions ? { instructions } : {}),
    ...(effort ? { reasoning: { effort } } : {}),
    ...(before ? { previous_response_id: before } : {}),
    ...(tools.length > 0 ? { tools: tools.map(toTool) } : {}),
    ...(schema.trim()
      ? { text: { format: { type: "json_schema", name: "answer", schema: JSON.parse(schema) } } }
      : {}),
    input: [{ role: "user", content }],
    stream: true,
    store: true,
  };
}

function toTool(type: string): object {
  return type === "code_interpreter" ? { type, container: { type: "auto" } } : { type };
}

/** The key is named, never written: what is copied is pasted into shells and chats. */
function toCurl(wish: Omit<Wish, "before">): string {
  let body: string;
  try {
    body = JSON.stringify(toBody({ ...wish, before: undefined }), null, 2);
  } catch {
    body = "{}";
  }
  const url = location.origin + API;
  return `curl ${url}responses -H "authorization: Bearer $OFFSHOOT_KEY" -H "content-type: application/json" -d '${body.replaceAll("'", "'\\''")}'`;
}

function readAsUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
