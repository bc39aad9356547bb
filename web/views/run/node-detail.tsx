/** The pane beside the tree: a run with its actions, a model call, or a tool call. */

import { toHref } from "../../core/address.ts";
import { get, runPath } from "../../core/api.ts";
import { useResource } from "../../core/resource.ts";
import type { RunDetail } from "../../core/views.ts";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/loaded.tsx";
import { Status, stateOf } from "../../parts/status.tsx";
import { QuestionList } from "../approvals.tsx";
import { Conversation } from "./conversation-tab.tsx";
import { RunControls } from "./run-controls.tsx";
import type { RunStream } from "./run-stream.ts";
import { StepPane } from "./step-pane.tsx";
import { toPlace } from "./tree-store.ts";
import { useRunNews } from "./use-run-news.ts";

interface NodeDetailProps {
  /** A run, or `RUN:SEQ` for a step of one. */
  readonly id: string;
  readonly root: RunDetail;
  readonly stream: RunStream;
}

export function NodeDetail({ id, root, stream }: NodeDetailProps) {
  const { run, seq } = toPlace(id);
  return (
    <aside class="detail" aria-label="Detail" tabIndex={0}>
      {seq !== undefined ? (
        <StepPane key={id} run={run} seq={seq} root={root.id} stream={stream} />
      ) : run === root.id ? (
        <Conversation
          run={run}
          stream={stream}
          isLive={root.status !== "ended"}
          hasPast={hasPast(root)}
        />
      ) : (
        <RunPane key={run} id={run} stream={stream} />
      )}
    </aside>
  );
}

/** True if a run continues a conversation that began before it. */
export function hasPast({ session, start }: RunDetail): boolean {
  const settings = start?.event["settings"] as { response?: { echo?: Before } } | undefined;
  const echo = settings?.response?.echo;
  return Boolean(session ?? echo?.previous_response_id ?? echo?.conversation);
}

interface Before {
  readonly previous_response_id?: string | null;
  readonly conversation?: object | null;
}

/** A run below the page's own run: it is stopped, steered and approved separately. */
function RunPane({ id, stream }: { readonly id: string; readonly stream: RunStream }) {
  const run = useResource(id, (signal) => get<RunDetail>(runPath(id), {}, signal));
  useRunNews(id, stream, () => run.reload());
  const detail = run.value.value;
  const problem = run.problem.value;
  return (
    <div class="stack">
      {problem && (
        <Problem text={problem.message} isLost={problem.status === 0} again={() => run.reload()} />
      )}
      {detail && (
        <>
          <div class="row spread">
            <span class="row">
              <Status state={stateOf(detail)} /> <b>{detail.label ?? detail.title}</b>
            </span>
            <a class="button plain" href={toHref(`runs/${encodeURIComponent(id)}`)}>
              Open <Icon name="chevron" small />
            </a>
          </div>
          {detail.message !== "" && <p class="notice bad">{detail.message}</p>}
          {detail.status !== "ended" && <RunControls run={detail} reload={() => run.reload()} />}
          <QuestionList run={id} isLive={detail.status !== "ended"} stream={stream} />
          <Conversation run={id} stream={stream} isLive={detail.status !== "ended"} />
        </>
      )}
    </div>
  );
}
