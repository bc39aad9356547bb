/**
 * What a connection remembers of responses that are not stored, so that the next turn sends only what
 * is new. Of each stream the last response alone; it is forgotten when a turn that went on with it
 * fails, and with the connection.
 */

/** All that stands before the next turn. */
export interface Context {
  /** The stored response that it begins behind. */
  readonly after: string | undefined;
  /** As the API takes them. */
  readonly items: readonly unknown[];
  /** About what it takes of memory. */
  readonly bytes: number;
}

export const NO_CONTEXT: Context = { after: undefined, items: [], bytes: 0 };

export interface Contexts {
  find(responseId: string): Context | undefined;
  /** In place of the stream's last one. What would be too much is not kept. */
  keep(streamId: string | undefined, responseId: string, context: Context): void;
  forget(responseId: string): void;
}

export function createContexts({ maxBytes }: { readonly maxBytes: number }): Contexts {
  const byId = new Map<string, Context>();
  const last = new Map<string | undefined, string>();
  let bytes = 0;

  const forget = (id: string): void => {
    bytes -= byId.get(id)?.bytes ?? 0;
    byId.delete(id);
  };
  return {
    find: (id) => byId.get(id),
    keep(streamId, id, context) {
      const earlier = last.get(streamId);
      if (earlier !== undefined) forget(earlier);
      if (bytes + context.bytes > maxBytes) return;
      last.set(streamId, id);
      byId.set(id, context);
      bytes += context.bytes;
    },
    forget,
  };
}

/** What is in a compaction is not needed beside it. */
export function joinContext(before: Context, items: readonly unknown[], bytes: number): Context {
  const all = [...before.items, ...items];
  const at = all.findLastIndex(
    (item) => (item as { type?: unknown } | null)?.type === "compaction",
  );
  if (at <= 0)
    return { after: at < 0 ? before.after : undefined, items: all, bytes: before.bytes + bytes };
  return { after: undefined, items: all.slice(at), bytes };
}
