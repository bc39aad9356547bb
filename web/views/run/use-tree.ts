/** Reads a run's tree in pieces, shows each as it comes, and updates it with the run's stream. */

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get, messageOf, runPath } from "../../core/api.ts";
import { session } from "../../core/session.ts";
import type { EventView, TreePiece, TreeRow } from "../../core/views.ts";
import type { RunStream } from "./run-stream.ts";
import { createTreeStore, type TreeStore } from "./tree-store.ts";

export interface LoadedTree {
  readonly store: TreeStore;
  /** The number of nodes on the server, if not all are here yet. */
  readonly total: number;
  readonly problem: string;
}

export function useTree(id: string, stream: RunStream): LoadedTree {
  const store = useMemo(() => createTreeStore(), [id]);
  const total = useSignal(0);
  const problem = useSignal("");
  const asked = useSignal(0);
  const token = session.value?.token;
  const opened = stream.opened.value;
  useEffect(() => {
    if (token === undefined) return;
    const stop = new AbortController();
    // Events that come while the tree is read may be missing in it.
    const meanwhile: { readonly run: string; readonly events: readonly EventView[] }[] = [];
    let isRead = false;
    const unlisten = stream.listen((events, run) => {
      if (isRead) store.apply(run, events);
      else meanwhile.push({ run, events });
      // Only the server knows how a run ended, and what it used.
      if (run === id && events.some(({ type }) => type === "run_end")) asked.value += 1;
    });
    void readTree(id, store, { total, signal: stop.signal }).then(
      () => {
        problem.value = "";
        isRead = true;
        for (const { run, events } of meanwhile) store.apply(run, events);
      },
      (failure: unknown) => {
        if (!stop.signal.aborted) problem.value = messageOf(failure);
      },
    );
    return () => {
      stop.abort();
      unlisten();
    };
  }, [id, store, stream, opened, token, asked.value, asked, problem, total]);
  const shown = useComputed(() => ({ total: total.value, problem: problem.value }));
  return { store, ...shown.value };
}

interface Reading {
  readonly total: { value: number };
  readonly signal: AbortSignal;
}

/** The first reading shows each piece; a later one replaces the tree when it is complete. */
async function readTree(id: string, store: TreeStore, { total, signal }: Reading): Promise<void> {
  const isFirst = store.nodes.length === 0;
  const rows: TreeRow[] = [];
  let after: string | null = null;
  do {
    const piece: TreePiece = await get<TreePiece>(`${runPath(id)}/tree`, { after }, signal);
    total.value = piece.nodes;
    after = piece.next;
    if (isFirst) store.append(piece.rows);
    else for (const row of piece.rows) rows.push(row);
  } while (after !== null);
  if (!isFirst) store.replace(rows);
}
