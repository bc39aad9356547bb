/** Runs a recorded tree again, nothing sent; or with another prompt, for real from the first difference on. */

import { useSignal } from "@preact/signals";
import { post } from "../../core/api.ts";
import type { ReplayView, RunDetail } from "../../core/views.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Markdown } from "../../parts/markdown.tsx";

export function ReplayDialog({
  run,
  onClose,
}: {
  readonly run: RunDetail;
  readonly onClose: () => void;
}) {
  const prompt = useSignal("");
  const busy = useSignal(false);
  const said = useSignal("");
  const result = useSignal<ReplayView | undefined>(undefined);
  const start = async (): Promise<void> => {
    busy.value = true;
    said.value = "";
    try {
      const body = prompt.value.trim() === "" ? {} : { prompt: prompt.value };
      result.value = await post<ReplayView>(`runs/${encodeURIComponent(run.id)}/replay`, body);
    } catch (failure) {
      said.value = failure instanceof Error ? failure.message : String(failure);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title="Replay" onClose={onClose} wide>
      <p class="quiet">
        The same loop over the recorded answers. Nothing is sent and nothing costs, unless you
        change the prompt: then the run is live from the first difference on.
      </p>
      <label class="field">
        <span>Another prompt (empty: replay as it was)</span>
        <textarea
          value={prompt.value}
          onInput={(event) => {
            prompt.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="button" class="main" disabled={busy.value} onClick={() => void start()}>
        {prompt.value.trim() === "" ? "Replay" : "Run with the change"}
      </button>
      {said.value !== "" && (
        <p class="problem" role="alert">
          {said.value}
        </p>
      )}
      {result.value && (
        <section>
          <h3>
            {result.value.divergence === null
              ? `${result.value.runs} runs replayed, no difference`
              : "They differ"}
          </h3>
          {result.value.divergence && (
            <pre class="plain">{JSON.stringify(result.value.divergence, null, 2)}</pre>
          )}
          {result.value.left.map(({ path, what }) => (
            <p key={path} class="warn">
              {path}: {what}
            </p>
          ))}
          <Markdown text={result.value.output_text} />
        </section>
      )}
    </Dialog>
  );
}
