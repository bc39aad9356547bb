/** Changes of files by a run and all runs below it, as diffs. */

import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { toHref } from "../../core/address.ts";
import { get, messageOf, runPath } from "../../core/api.ts";
import { toTime } from "../../core/format.ts";
import { session } from "../../core/session.ts";
import type { ChangeView, RecordPage } from "../../core/views.ts";
import { Diff } from "../../parts/diff.tsx";
import { Empty, Problem } from "../../parts/loaded.tsx";

export function FilesTab({ id, root }: { readonly id: string; readonly root: string }) {
  const changes = useSignal<readonly ChangeView[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const problem = useSignal("");
  const token = session.value?.token;
  const more = useCallback(async (): Promise<void> => {
    try {
      const page = await get<RecordPage<ChangeView>>(`${runPath(id)}/changes`, {
        after: next.peek(),
        limit: 50,
      });
      changes.value = [...changes.peek(), ...page.data];
      next.value = page.next;
      problem.value = "";
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  }, [id, changes, next, problem]);
  useEffect(() => {
    if (token !== undefined && changes.peek().length === 0) void more();
  }, [more, token, changes]);
  if (next.value === null && changes.value.length === 0) {
    return (
      <Empty title="No file was changed." icon="file">
        Changes by the tools of runs on this machine appear here.
      </Empty>
    );
  }
  return (
    <div class="stack">
      {changes.value.map((change, at) => (
        <ChangeCard key={at} change={change} root={root} />
      ))}
      {problem.value !== "" && <Problem text={problem.value} again={() => void more()} />}
      {typeof next.value === "string" && (
        <button type="button" onClick={() => void more()}>
          More changes
        </button>
      )}
      {next.value === undefined && problem.value === "" && <p class="loading">Loading…</p>}
    </div>
  );
}

const TONES: Readonly<Record<ChangeView["what"], string>> = {
  created: "good",
  changed: "live",
  deleted: "bad",
  unfinished: "warn",
};

interface ChangeProps {
  readonly change: ChangeView;
  /** The run whose tree contains the call. */
  readonly root: string;
}

export function ChangeCard({ change, root }: ChangeProps) {
  const { path, what, diff, note, tool, run_id, seq, at_ms } = change;
  const node = encodeURIComponent(`${run_id}:${seq}`);
  return (
    <article class="panel">
      <header>
        <span class="row">
          <b class="mono">{path}</b>
          <span class={`chip ${TONES[what]}`}>{what}</span>
        </span>
        <span class="quiet">
          <a href={toHref(`runs/${encodeURIComponent(root)}?node=${node}`)}>{tool || "a call"}</a>,{" "}
          {toTime(at_ms)}
        </span>
      </header>
      <div class="body">
        {diff ? <Diff text={diff} /> : <p class="quiet">{note ?? "No lines changed."}</p>}
      </div>
    </article>
  );
}
