/** The actions on a run as a whole: replay, continue, compare, copy and save. */

import { useSignal } from "@preact/signals";
import { useAction } from "../../core/act.ts";
import { go, toHref } from "../../core/address.ts";
import { download, get, post, runPath } from "../../core/api.ts";
import { canChange, mayDo } from "../../core/session.ts";
import type { RunDetail, SessionDetail, SessionView } from "../../core/views.ts";
import { CopyAs } from "../../parts/copy.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Said } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";

export function RunActions({ run }: { readonly run: RunDetail; readonly reload: () => void }) {
  const replaying = useSignal(false);
  const action = useAction();
  const path = runPath(run.id);
  const isOver = run.status === "ended";
  const save = (format: "md" | "jsonl"): Promise<boolean> =>
    action.run(async () => {
      await download(`${path}/export?format=${format}`, `${run.id.replaceAll("/", "_")}.${format}`);
      return undefined;
    });
  const canReplay = isOver && run.kind === "agent" && run.parent_id === null && canChange.value;
  return (
    <div class="actions">
      <div class="row">
        {canReplay && (
          <button
            type="button"
            onClick={() => {
              replaying.value = true;
            }}
          >
            <Icon name="repeat" /> Replay
          </button>
        )}
        {isOver && canGoOn(run) && (
          <button
            type="button"
            disabled={action.busy.value}
            onClick={() => void action.run(() => continueRun(run))}
          >
            <Icon name="branch" /> Continue
          </button>
        )}
        <a class="button" href={toHref(`compare?a=${encodeURIComponent(run.id)}`)}>
          <Icon name="compare" /> Compare
        </a>
        <CopyAs request={() => ({ method: "GET", path })} />
        <Menu
          label="More"
          entries={[
            { name: "Export as Markdown", icon: "download", run: () => save("md") },
            { name: "Export as JSON lines", icon: "download", run: () => save("jsonl") },
            {
              name: "Copy a link",
              icon: "copy",
              run: () => navigator.clipboard.writeText(location.href).catch(() => {}),
            },
          ]}
        />
      </div>
      <Said of={action} />
      {replaying.value && (
        <ReplayDialog
          run={run}
          onClose={() => {
            replaying.value = false;
          }}
        />
      )}
    </div>
  );
}

/**
 * A run of a session is continued in a fork of it; a response is followed by the next one. Both cost as usual.
 */
function canGoOn({ session, kind, parent_id }: RunDetail): boolean {
  if (!mayDo("responses") || parent_id !== null) return false;
  return kind === "response" || (session !== null && canChange.value);
}

async function continueRun(run: RunDetail): Promise<undefined> {
  if (run.session === null) {
    go(`playground?previous=${run.id.replace(/^run_/, "resp_")}`);
    return undefined;
  }
  // Each run of a session is one of its turns.
  const { runs } = await get<SessionDetail>(`sessions/${run.session}`);
  const at = runs.indexOf(run.id);
  const body = at < 0 ? {} : { turn: at + 1 };
  const forked = await post<SessionView>(`${runPath(run.id)}/fork`, body);
  go(`playground?conversation=${forked.id}`);
  return undefined;
}
