/**
 * The memory of a connection for responses that are not stored, so that the next turn sends only what is new. It
 * remembers the last response of each stream, until a turn that continues it fails or the connection ends.
 */

/** Everything that stands before the next turn. */
export interface Context {
  /** The stored response that it continues. */
  readonly after: string | undefined;
  /** Items as the API takes them. */
  readonly items: readonly unknown[];
  /** The context's approximate size in memory. */
  readonly bytes: number;
}

export const NO_CONTEXT: Context = { after: undefined, items: [], bytes: 0 };

export interface Contexts {
  find(responseId: string): Context | undefined;
  /** Replaces the context of the stream. One that is too large is not kept. */
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

/** Items that a compaction replaces are not kept beside it. */
export function joinContext(before: Context, items: readonly unknown[], bytes: number): Context {
  const all = [...before.items, ...items];
  const at = all.findLastIndex(
    (item) => (item as { type?: unknown } | null)?.type === "compaction",
  );
  if (at <= 0)
    return { after: at < 0 ? before.after : undefined, items: all, bytes: before.bytes + bytes };
  return { after: undefined, items: all.slice(at), bytes };
}
