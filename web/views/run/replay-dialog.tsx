/**
 * Replays a recorded tree without sending anything; or, with another prompt for one of its runs, continues for real
 * from there.
 */

import { useSignal } from "@preact/signals";
import { useAction } from "../../core/act.ts";
import { get, post, runPath } from "../../core/api.ts";
import { plural } from "../../core/format.ts";
import { useResource } from "../../core/resource.ts";
import type { ReplayView, RunDetail, TreePiece } from "../../core/views.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Said } from "../../parts/loaded.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Status } from "../../parts/status.tsx";
import { ComparedRows } from "./compared-rows.tsx";

export function ReplayDialog({
  run,
  onClose,
}: {
  readonly run: RunDetail;
  readonly onClose: () => void;
}) {
  const prompt = useSignal("");
  const node = useSignal(run.id);
  const result = useSignal<ReplayView | undefined>(undefined);
  const action = useAction();
  const isChanged = prompt.value.trim() !== "";
  const start = (): Promise<boolean> =>
    action.run(async () => {
      const body = isChanged ? { prompt: prompt.value, node: node.value } : {};
      result.value = await post<ReplayView>(`${runPath(run.id)}/replay`, body);
      return undefined;
    });
  return (
    <Dialog title="Replay" onClose={onClose} look="wide">
      <p class="quiet">
        The same loop over the recorded answers: nothing is sent, and nothing costs. With another
        prompt, the run that you change and what depends on it run for real.
      </p>
      <div class="form-grid">
        <NodeChoice run={run} node={node} />
      </div>
      <label class="field">
        <span>Another prompt for it (empty: replay as it was)</span>
        <textarea
          value={prompt.value}
          onInput={(event) => {
            prompt.value = event.currentTarget.value;
          }}
        />
      </label>
      <div class="row">
        <button
          type="button"
          class="main"
          disabled={action.busy.value}
          onClick={() => void start()}
        >
          {action.busy.value ? "Replaying…" : isChanged ? "Run with the change" : "Replay"}
        </button>
      </div>
      <Said of={action} />
      {result.value && <Replayed result={result.value} />}
    </Dialog>
  );
}

/** The run itself and its subagents. */
function NodeChoice({ run, node }: { readonly run: RunDetail; readonly node: { value: string } }) {
  const tree = useResource(run.id, (signal) =>
    get<TreePiece>(`${runPath(run.id)}/tree`, {}, signal),
  );
  const runs = (tree.value.value?.rows ?? []).filter(([, , , kind]) => kind === "run");
  return (
    <label class="field">
      <span>Run</span>
      <select
        value={node.value}
        onChange={(event) => {
          node.value = event.currentTarget.value;
        }}
      >
        {runs.length === 0 && <option value={run.id}>{run.label ?? run.title}</option>}
        {runs.map(([id, , depth, , name]) => (
          <option key={id} value={id}>
            {"  ".repeat(depth)}
            {name ?? id}
          </option>
        ))}
      </select>
    </label>
  );
}

function Replayed({ result }: { readonly result: ReplayView }) {
  const { runs, left, rows, first_difference, divergence, ending, output_text } = result;
  return (
    <section class="stack" aria-label="Result">
      <p class={divergence ? "notice warn" : "notice good"} role="status">
        {divergence
          ? "The replay differs from its record."
          : `${plural(runs, "run")} replayed${left.length === 0 && first_difference === null ? ", no difference" : ""}`}
      </p>
      {left.map(({ path, what }) => (
        <p key={path} class="warn">
          {path}: {what}
        </p>
      ))}
      <ComparedRows rows={rows} first={first_difference} heads={["As recorded", "This time"]} />
      <div class="panel">
        <header>
          <b>This time</b>
          <Status state={ending} />
        </header>
        <div class="body">
          <Markdown text={output_text} />
        </div>
      </div>
    </section>
  );
}
