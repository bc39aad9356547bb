/** Model, instructions, tools, agents and the form of the answer. */

import { get } from "../../core/api.ts";
import { useResource } from "../../core/resource.ts";
import { mayDo } from "../../core/session.ts";
import type { OwnToolsView } from "../../core/views.ts";
import { Loaded } from "../../parts/loaded.tsx";
import { change, type Wish, wish } from "./wish.ts";

const HOSTED = ["web_search", "file_search", "code_interpreter", "image_generation"];
const EFFORTS = ["", "none", "low", "medium", "high"] as const;
/** The server's own tools that start subagents. */
const DELEGATING = /subagent/;

export function PlaygroundSettings() {
  return (
    <aside class="panel settings" aria-label="Settings" tabIndex={0}>
      <div class="body stack">
        {mayDo("models") ? <ModelField /> : <PlainModel />}
        <label class="field">
          <span>Instructions</span>
          <textarea
            value={wish.value.instructions}
            onInput={(event) => change({ instructions: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Reasoning effort</span>
          <select
            value={wish.value.effort}
            onChange={(event) => change({ effort: event.currentTarget.value })}
          >
            {EFFORTS.map((word) => (
              <option key={word} value={word}>
                {word || "the model's default"}
              </option>
            ))}
          </select>
        </label>
        <Choices legend="Hosted tools" field="hosted" names={HOSTED} />
        {wish.value.hosted.includes("file_search") && mayDo("files") && <Stores />}
        <OwnTools />
        <label class="field">
          <span>JSON schema of the answer</span>
          <textarea
            class="mono"
            value={wish.value.schema}
            placeholder='{"type": "object", …}'
            onInput={(event) => change({ schema: event.currentTarget.value })}
          />
        </label>
      </div>
    </aside>
  );
}

function ModelField() {
  const models = useResource("models", (signal) =>
    get<{ data: readonly { id: string }[] }>("models", {}, signal),
  );
  return (
    <Loaded of={models}>
      {({ data }) => (
        <label class="field">
          <span>Model</span>
          <input
            type="text"
            list="models"
            value={wish.value.model}
            placeholder="the server's default"
            onInput={(event) => change({ model: event.currentTarget.value })}
          />
          <datalist id="models">
            {data.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
        </label>
      )}
    </Loaded>
  );
}

function PlainModel() {
  return (
    <label class="field">
      <span>Model</span>
      <input
        type="text"
        value={wish.value.model}
        placeholder="the server's default"
        onInput={(event) => change({ model: event.currentTarget.value })}
      />
    </label>
  );
}

interface ChoicesProps {
  readonly legend: string;
  readonly field: "hosted" | "own" | "stores";
  readonly names: readonly string[];
  /** A description beside the name. */
  readonly about?: Readonly<Record<string, string>>;
}

function Choices({ legend, field, names, about = {} }: ChoicesProps) {
  const chosen: Wish["own"] = wish.value[field];
  return (
    <fieldset class="field">
      <legend>{legend}</legend>
      {names.map((name) => (
        <label key={name} class="check" title={about[name]}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={() =>
              change({
                [field]: chosen.includes(name)
                  ? chosen.filter((one) => one !== name)
                  : [...chosen, name],
              })
            }
          />
          <span class="clip">{about[name] ? `${about[name]}` : name}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** The server's tools and its agents. */
function OwnTools() {
  const tools = useResource("tools", (signal) => get<OwnToolsView>("tools", {}, signal));
  return (
    <Loaded of={tools}>
      {({ data, agents }) => {
        const names = data.map(({ name }) => name);
        const plain = names.filter((name) => !DELEGATING.test(name));
        const delegating = names.filter((name) => DELEGATING.test(name));
        return (
          <>
            {plain.length > 0 && (
              <Choices legend="Tools of this server" field="own" names={plain} />
            )}
            {delegating.length > 0 && (
              <div>
                <Choices legend="Agents" field="own" names={delegating} />
                {agents.length > 0 && (
                  <small class="quiet">
                    Known here: {agents.map(({ name }) => name).join(", ")}
                  </small>
                )}
              </div>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function Stores() {
  const stores = useResource("stores", (signal) =>
    get<{ data: readonly { id: string; name: string | null }[] }>(
      "vector_stores",
      { limit: 100 },
      signal,
    ),
  );
  return (
    <Loaded of={stores}>
      {({ data }) => (
        <Choices
          legend="Vector stores"
          field="stores"
          names={data.map(({ id }) => id)}
          about={Object.fromEntries(data.map(({ id, name }) => [id, name ?? id]))}
        />
      )}
    </Loaded>
  );
}
