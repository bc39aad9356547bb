/** The conversation of the model, turn by turn, live. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { plural } from "../../core/format.ts";
import { Empty, Problem } from "../../parts/loaded.tsx";
import { BeforeRun } from "./before-run.tsx";
import { BlockView } from "./block-view.tsx";
import type { RunStream } from "./run-stream.ts";
import { useConversation } from "./use-conversation.ts";

interface ConversationProps {
  readonly run: string;
  readonly stream: RunStream;
  /** True if new blocks are at the end, and shown there. */
  readonly isLive: boolean;
  /** Set if the run continues a conversation that began before it. */
  readonly hasPast?: boolean;
}

/** Blocks on the page at once: a long conversation is shown in parts. */
const SHOWN = 150;

export function Conversation({ run, stream, isLive, hasPast = false }: ConversationProps) {
  const { store, problem, hasMore, isRead, more } = useConversation(run, stream);
  const limit = useSignal(SHOWN);
  const box = useRef<HTMLDivElement>(null);
  const cells = store.cells.value;
  const from = isLive ? Math.max(0, cells.length - limit.value) : 0;
  const shown = cells.slice(from, isLive ? undefined : limit.value);
  useStickToEnd(box, isLive);
  return (
    <div class="conversation" ref={box}>
      {problem.value !== "" && <Problem text={problem.value} />}
      {hasPast && <BeforeRun run={run} />}
      {from > 0 && <MoreButton count={from} what="earlier" limit={limit} />}
      {shown.map((cell) => (
        <BlockView key={cell.key} cell={cell} run={run} />
      ))}
      {!isLive && cells.length > limit.value && (
        <MoreButton count={cells.length - limit.value} what="more" limit={limit} />
      )}
      {hasMore.value && cells.length <= limit.value && (
        <button type="button" onClick={more}>
          Read more of the log
        </button>
      )}
      {cells.length === 0 && isRead.value && (
        <Empty title="Nothing has been said yet." icon="session" />
      )}
      {cells.length === 0 && !isRead.value && problem.value === "" && (
        <p class="loading">Loading…</p>
      )}
    </div>
  );
}

interface MoreProps {
  readonly count: number;
  readonly what: string;
  readonly limit: { value: number };
}

function MoreButton({ count, what, limit }: MoreProps) {
  return (
    <button
      type="button"
      onClick={() => {
        limit.value += SHOWN;
      }}
    >
      Show {Math.min(SHOWN, count)} {what} of {plural(count, "block")}
    </button>
  );
}

/** Pixels from the end within which a person is assumed to read along. */
const NEAR_PX = 120;

/** A person who reads at the end stays there; one who has scrolled up is not moved. */
function useStickToEnd(box: { readonly current: HTMLElement | null }, isLive: boolean): void {
  useEffect(() => {
    const element = box.current;
    const scroller = element?.closest<HTMLElement>(".detail, .main");
    if (!isLive || !element || !scroller) return;
    let isAtEnd = true;
    const note = (): void => {
      isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
    };
    const observer = new ResizeObserver(() => {
      if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    });
    observer.observe(element);
    scroller.addEventListener("scroll", note, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener("scroll", note);
    };
  }, [box, isLive]);
}
