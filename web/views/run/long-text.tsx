/** The rest of a cut text: it is loaded in pieces, however long it is. */

import { useSignal } from "@preact/signals";
import { get, messageOf, runPath } from "../../core/api.ts";
import { toCount } from "../../core/format.ts";
import type { TextPiece } from "../../core/views.ts";
import type { Rest } from "./blocks.ts";

interface LongTextProps {
  readonly rest: Rest | undefined;
  /** The kind of address that has the pieces. */
  readonly of?: "events" | "steps";
}

export function LongText({ rest, of = "events" }: LongTextProps) {
  const pieces = useSignal<readonly string[]>([]);
  const next = useSignal<number | null>(0);
  const busy = useSignal(false);
  const said = useSignal("");
  if (!rest) return null;
  const { run, seq, path, length } = rest;
  const show = async (): Promise<void> => {
    busy.value = true;
    try {
      const query = { path, from: next.peek() };
      const piece = await get<TextPiece>(`${runPath(run)}/${of}/${seq}`, query);
      pieces.value = [...pieces.peek(), piece.text];
      next.value = piece.next;
      said.value = "";
    } catch (failure) {
      said.value = messageOf(failure);
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="stack tight">
      {pieces.value.map((piece, at) => (
        <pre key={at} class="plain long" tabIndex={0}>
          {piece}
        </pre>
      ))}
      <p class="row quiet">
        {pieces.value.length === 0
          ? `Shortened: the whole text has ${toCount(length)} characters.`
          : next.value === null
            ? `All ${toCount(length)} characters are shown.`
            : `${toCount(next.value)} of ${toCount(length)} characters are shown.`}
        {next.value !== null && (
          <button type="button" class="small" disabled={busy.value} onClick={() => void show()}>
            {pieces.value.length === 0 ? "Show it" : "Show more"}
          </button>
        )}
      </p>
      {said.value !== "" && (
        <p class="notice bad" role="alert">
          {said.value}
        </p>
      )}
    </div>
  );
}
