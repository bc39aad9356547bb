/** Stop a run, send it a message, or resume one whose process died. */

import { useSignal } from "@preact/signals";
import { useAction } from "../../core/act.ts";
import { post, runPath } from "../../core/api.ts";
import { canChange } from "../../core/session.ts";
import type { RunDetail } from "../../core/views.ts";
import { Icon } from "../../parts/icon.tsx";
import { Said } from "../../parts/loaded.tsx";

/** Only for a run that has not ended. */
export function RunControls({
  run,
  reload,
}: {
  readonly run: RunDetail;
  readonly reload: () => void;
}) {
  const text = useSignal("");
  const action = useAction();
  const path = runPath(run.id);
  const isSubagent = run.parent_id !== null;
  const act = (name: string, body: object, done: string): Promise<boolean> =>
    action.run(async () => {
      await post(`${path}/${name}`, body);
      reload();
      return done;
    });
  const steer = async (): Promise<void> => {
    const message = text.value.trim();
    if (message === "") return;
    const isLeft = await act("steer", { text: message }, "It reads this before its next turn.");
    // Typed text stays if it could not be delivered.
    if (isLeft) text.value = "";
  };
  if (!canChange.value) {
    return <p class="quiet">This server asks for no key, so nothing can be changed here.</p>;
  }
  return (
    <div class="stack tight">
      <form
        class="row fixed"
        onSubmit={(event) => {
          event.preventDefault();
          void steer();
        }}
      >
        <input
          type="text"
          class="grow"
          aria-label="A message for the run"
          placeholder="Tell it something before its next turn"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        <button type="submit" disabled={action.busy.value}>
          Steer
        </button>
        {!run.is_held && (
          <button type="button" onClick={() => void act("resume", {}, "Resumed.")}>
            <Icon name="play" small /> Resume
          </button>
        )}
        <button
          type="button"
          class="danger"
          disabled={action.busy.value}
          onClick={() => void act("cancel", {}, "Stopped.")}
        >
          <Icon name="stop" small /> {isSubagent ? "Stop this one" : "Stop"}
        </button>
      </form>
      <Said of={action} />
    </div>
  );
}
