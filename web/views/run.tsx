/** One run, live: the tree with its timeline, the conversation, the raw log; stop, steer, approve, replay. */

import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, refine, toHref } from "../core/address.ts";
import { get, post } from "../core/api.ts";
import { follow } from "../core/follow.ts";
import { toCost, toCount, toDuration, toExactTime, toTime } from "../core/format.ts";
import { type Resource, useResource } from "../core/resource.ts";
import { API, mayDo, session } from "../core/session.ts";
import type { FollowFrame, RunDetail } from "../core/views.ts";
import { CopyButton } from "../parts/code.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";
import { QuestionList } from "./approvals.tsx";
import { addEvents, type Conversation, EMPTY } from "./run/conversation-model.ts";
import { ConversationTab } from "./run/conversation-tab.tsx";
import { EventsTab } from "./run/events-tab.tsx";
import { ReplayDialog } from "./run/replay-dialog.tsx";
import { toPlace } from "./run/tree-model.ts";
import { TreeTab } from "./run/tree-tab.tsx";

const TABS = [
  ["tree", "Tree and timeline"],
  ["conversation", "Conversation"],
  ["events", "Raw events"],
] as const;

export function RunView({ id }: { readonly id: string }) {
  const path = `runs/${encodeURIComponent(id)}`;
  const run = useResource(id, (signal) => get<RunDetail>(path, {}, signal));
  const { conversation, news, lost } = useFollow(id, run);
  const tab = address.value.query.get("tab") ?? "tree";
  const node = address.value.query.get("node") ?? id;
  return (
    <div class="view">
      {lost.value !== "" && (
        <p class="lost" role="status">
          {lost.value}
        </p>
      )}
      <Loaded of={run}>{(detail) => <Head run={detail} reload={() => run.reload()} />}</Loaded>
      <QuestionList run={id} every={run.value.value?.status === "ended" ? 0 : 2000} />
      <nav class="tabs" aria-label="Parts of the run">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={toHref(`${path}?tab=${name}`)}
            aria-current={tab === name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab === "tree" && (
        <div class="split">
          <TreeTab id={id} news={news} picked={node} pick={(picked) => refine({ node: picked })} />
          <NodeDetail id={node} root={id} conversation={conversation} />
        </div>
      )}
      {tab === "conversation" && <ConversationTab conversation={conversation} />}
      {tab === "events" && <EventsTab key={id} id={id} from={undefined} />}
    </div>
  );
}

function Head({ run, reload }: { readonly run: RunDetail; readonly reload: () => void }) {
  const { totals, created_at_ms, ended_at_ms, parent_id } = run;
  return (
    <>
      <header>
        <div class="grow">
          <h1 class="clip" title={run.title}>
            {run.label ?? run.title}
          </h1>
          <p class="quiet row">
            <Status state={stateOf(run)} /> <code>{run.id}</code>{" "}
            <CopyButton text={run.id} label="Copy id" />
            {parent_id && <a href={toHref(`runs/${encodeURIComponent(parent_id)}`)}>parent</a>}
            {run.session && <a href={toHref(toSession(run.session))}>session</a>}
          </p>
          {run.message !== "" && <p class="bad">{run.message}</p>}
        </div>
        <Actions run={run} reload={reload} />
      </header>
      <dl class="cards">
        <Figure name="Cost" value={totals.calls === 0 ? "$0" : toCost(totals)} />
        <Figure
          name="Tokens in / out"
          value={`${toCount(totals.input_tokens)} / ${toCount(totals.output_tokens)}`}
        />
        <Figure name="Model calls" value={toCount(totals.calls)} />
        <Figure name="Took" value={toDuration((ended_at_ms ?? Date.now()) - created_at_ms)} />
        <Figure name="Began" value={toTime(created_at_ms)} title={toExactTime(created_at_ms)} />
        <Figure name="Model" value={run.model ?? "–"} />
      </dl>
    </>
  );
}

function Figure({
  name,
  value,
  title,
}: {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
}) {
  return (
    <div class="card" title={title}>
      <dt class="quiet">{name}</dt>
      <dd class="clip">{value}</dd>
    </div>
  );
}

function Actions({ run, reload }: { readonly run: RunDetail; readonly reload: () => void }) {
  const replaying = useSignal(false);
  const steering = useSignal("");
  const said = useSignal("");
  const path = `runs/${encodeURIComponent(run.id)}`;
  const act = (name: string, body: object, done: string): void => {
    post(`${path}/${name}`, body).then(
      () => {
        said.value = done;
        reload();
      },
      (failure: Error) => {
        said.value = failure.message;
      },
    );
  };
  const isWorking = run.status !== "ended";
  return (
    <div class="actions">
      <div class="row">
        {isWorking && (
          <button type="button" class="danger" onClick={() => act("cancel", {}, "Stopped.")}>
            Stop
          </button>
        )}
        {isWorking && !run.is_held && (
          <button type="button" onClick={() => act("resume", {}, "Resumed.")}>
            Resume
          </button>
        )}
        {!isWorking && (
          <button
            type="button"
            onClick={() => {
              replaying.value = true;
            }}
          >
            Replay
          </button>
        )}
        {run.session && !isClients(run.session) && !isWorking && (
          <button
            type="button"
            onClick={() => act("fork", {}, "Forked: the new session is in Sessions.")}
          >
            Fork
          </button>
        )}
        <a class="button" href={toHref(`compare?a=${encodeURIComponent(run.id)}`)}>
          Compare
        </a>
        <CopyButton
          label="Copy as curl"
          text={() =>
            `curl -H "authorization: Bearer $OFFSHOOT_KEY" ${location.origin}${API}${path}`
          }
        />
      </div>
      {isWorking && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (steering.value.trim() === "") return;
            act("steer", { text: steering.value }, "It reads this before its next turn.");
            steering.value = "";
          }}
        >
          <input
            type="text"
            aria-label="A message for the run"
            placeholder="Tell it something"
            value={steering.value}
            onInput={(event) => {
              steering.value = event.currentTarget.value;
            }}
          />
          <button type="submit">Steer</button>
        </form>
      )}
      {said.value !== "" && (
        <p class="quiet" role="status">
          {said.value}
        </p>
      )}
      {!mayDo("runs") && <p class="quiet">This session may only look.</p>}
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

interface NodeDetailProps {
  readonly id: string;
  readonly root: string;
  readonly conversation: Signal<Conversation>;
}

/** What stands beside the tree: the conversation of a run, or the events from a call or turn on. */
function NodeDetail({ id, root, conversation }: NodeDetailProps) {
  const { run, seq } = toPlace(id);
  if (seq !== undefined) {
    return (
      <aside class="detail">
        <p class="row spread">
          <b>Event {seq}</b>
          <a href={toHref(`runs/${encodeURIComponent(run)}?tab=conversation`)}>
            Whole conversation
          </a>
        </p>
        <EventsTab key={id} id={run} from={seq} />
      </aside>
    );
  }
  return (
    <aside class="detail">
      {run === root ? (
        <ConversationTab conversation={conversation} />
      ) : (
        <OtherRun key={run} id={run} />
      )}
    </aside>
  );
}

function OtherRun({ id }: { readonly id: string }) {
  const run = useResource(id, (signal) =>
    get<RunDetail>(`runs/${encodeURIComponent(id)}`, {}, signal),
  );
  const { conversation } = useFollow(id, run);
  return (
    <>
      <Loaded of={run}>
        {(detail) => (
          <p class="row spread">
            <span class="row">
              <Status state={stateOf(detail)} /> <b>{detail.label ?? detail.title}</b>
            </span>
            <span class="row">
              {detail.status !== "ended" && <StopButton id={id} reload={() => run.reload()} />}
              <a href={toHref(`runs/${encodeURIComponent(id)}`)}>Open</a>
            </span>
          </p>
        )}
      </Loaded>
      <ConversationTab conversation={conversation} />
    </>
  );
}

/** Stops one subagent and all below it; the run that started it goes on. */
function StopButton({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const said = useSignal("");
  return (
    <>
      {said.value !== "" && <span role="alert">{said.value}</span>}
      <button
        type="button"
        class="danger small"
        onClick={() => {
          post(`runs/${encodeURIComponent(id)}/cancel`).then(reload, (failure: Error) => {
            said.value = failure.message;
          });
        }}
      >
        Stop this one
      </button>
    </>
  );
}

/** One stream for the whole tree: its own events make the conversation, all others only count as news. */
function useFollow(id: string, run: Resource<RunDetail>) {
  const conversation = useSignal<Conversation>(EMPTY);
  const news = useSignal(0);
  const lost = useSignal("");
  const token = session.value?.token;
  useEffect(() => {
    if (token === undefined) return;
    const stop = new AbortController();
    let seen = -1;
    conversation.value = EMPTY;
    const path = `runs/${encodeURIComponent(id)}/follow`;
    void follow(
      {
        path,
        query: () => ({ after: seen, tree: true }),
        state: (problem) => {
          lost.value = problem === undefined ? "" : `Not live: ${problem}`;
        },
        take(data) {
          const { run_id, events } = data as FollowFrame;
          news.value += 1;
          if (run_id !== id) return true;
          conversation.value = addEvents(conversation.peek(), events);
          seen = Math.max(seen, ...events.map(({ last_seq }) => last_seq));
          if (events.some(({ type }) => type === "run_end" || type === "turn_end")) run.reload();
          return true;
        },
      },
      stop.signal,
    );
    return () => stop.abort();
  }, [id, run, conversation, news, lost, token]);
  return { conversation, news, lost };
}

/** A client's own session is a list of requests, each with its whole conversation: nothing goes on with it. */
function isClients(session: string): boolean {
  return session.startsWith("client:");
}

function toSession(session: string): string {
  return isClients(session)
    ? `runs?session=${encodeURIComponent(session)}`
    : `sessions/${encodeURIComponent(session)}`;
}
