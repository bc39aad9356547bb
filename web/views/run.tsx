/** One run, live: the tree with its timeline, the conversation, files, cost and the raw log. */

import { useSignal } from "@preact/signals";
import { address, refine, toHref } from "../core/address.ts";
import { get, runPath } from "../core/api.ts";
import { now, useClock } from "../core/clock.ts";
import { plural, toCost, toCount, toDuration, toExactTime, toTime } from "../core/format.ts";
import { runNews } from "../core/news.ts";
import { useResource } from "../core/resource.ts";
import type { RunDetail } from "../core/views.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/loaded.tsx";
import { Status, stateOf } from "../parts/status.tsx";
import { QuestionList } from "./approvals.tsx";
import { Conversation } from "./run/conversation-tab.tsx";
import { CostTab } from "./run/cost-tab.tsx";
import { EventsTab } from "./run/events-tab.tsx";
import { FilesTab } from "./run/files-tab.tsx";
import { hasPast, NodeDetail } from "./run/node-detail.tsx";
import { RunActions } from "./run/run-actions.tsx";
import { RunControls } from "./run/run-controls.tsx";
import { type RunStream, useRunStream } from "./run/run-stream.ts";
import { TreeTab } from "./run/tree-tab.tsx";
import { useRunNews } from "./run/use-run-news.ts";
import { useTree } from "./run/use-tree.ts";

const TABS = [
  ["tree", "Tree"],
  ["conversation", "Conversation"],
  ["files", "Files"],
  ["cost", "Cost"],
  ["events", "Events"],
] as const;

export function RunView({ id }: { readonly id: string }) {
  const isOver = useSignal(false);
  const run = useResource(id, (signal) => get<RunDetail>(runPath(id), {}, signal), {
    // A run at work reports its changes itself; one that has ended may still be deleted.
    news: isOver.value ? runNews.value : "",
  });
  const detail = run.value.value;
  isOver.value = detail?.status === "ended";
  const problem = run.problem.value;
  const stream = useRunStream(id, detail !== undefined && detail.status !== "ended");
  useRunNews(id, stream, () => run.reload(), true);
  const isGone = problem?.status === 404 || stream.problem.value?.status === 404;
  return (
    <div class="view">
      {isGone ? (
        <Gone wasHere={detail !== undefined} />
      ) : (
        problem && (
          <Problem
            text={problem.message}
            isLost={problem.status === 0}
            again={() => run.reload()}
          />
        )
      )}
      {!isGone && stream.problem.value && (
        <p class="notice warn" role="status">
          <Icon name="alert" /> Not live: {stream.problem.value.message}
        </p>
      )}
      {!detail && !problem && <p class="loading">Loading…</p>}
      {detail && <Body run={detail} stream={stream} reload={() => run.reload()} />}
    </div>
  );
}

/** Data that was read before the deletion stays on the page, with a note. */
function Gone({ wasHere }: { readonly wasHere: boolean }) {
  return (
    <p class="notice warn" role="alert">
      <Icon name="alert" />
      <span class="grow">
        {wasHere
          ? "This run was deleted while you looked at it. The data below was read before that."
          : "There is no such run, or it belongs to another tenant."}
      </span>
      <a href={toHref("runs")}>All runs</a>
    </p>
  );
}

interface BodyProps {
  readonly run: RunDetail;
  readonly stream: RunStream;
  readonly reload: () => void;
}

function Body({ run, stream, reload }: BodyProps) {
  const tab = address.value.query.get("tab") ?? "tree";
  const isLive = run.status !== "ended";
  return (
    <>
      <Head run={run} reload={reload} />
      {isLive && <RunControls run={run} reload={reload} />}
      <QuestionList run={run.id} isLive={isLive} stream={stream} />
      <nav class="tabs" aria-label="Parts of the run">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={toHref(`${runPath(run.id)}${name === "tree" ? "" : `?tab=${name}`}`)}
            aria-current={tab === name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Tab key={run.id} name={tab} run={run} stream={stream} />
    </>
  );
}

interface TabProps {
  readonly name: string;
  readonly run: RunDetail;
  readonly stream: RunStream;
}

function Tab({ name, run, stream }: TabProps) {
  switch (name) {
    case "conversation":
      return (
        <div class="reading">
          <Conversation
            run={run.id}
            stream={stream}
            isLive={run.status !== "ended"}
            hasPast={hasPast(run)}
          />
        </div>
      );
    case "files":
      return <FilesTab id={run.id} root={run.id} />;
    case "events":
      return <EventsTab id={run.id} />;
    case "cost":
      return <Costs run={run} stream={stream} />;
    default:
      return <Tree run={run} stream={stream} />;
  }
}

function Costs({ run, stream }: Omit<TabProps, "name">) {
  return <CostTab id={run.id} tree={useTree(run.id, stream)} />;
}

function Tree({ run, stream }: Omit<TabProps, "name">) {
  const node = address.value.query.get("node") ?? run.id;
  const tree = useTree(run.id, stream);
  return (
    <div class="split">
      <TreeTab tree={tree} picked={node} pick={(picked) => refine({ node: picked })} />
      <NodeDetail id={node} root={run} stream={stream} />
    </div>
  );
}

function Head({ run, reload }: { readonly run: RunDetail; readonly reload: () => void }) {
  const { totals, created_at_ms, ended_at_ms, parent_id, session } = run;
  useClock(ended_at_ms === null);
  const endMs = ended_at_ms ?? now.value;
  return (
    <>
      <header class="view-head">
        <div class="grow">
          <p class="crumbs">
            <a href={toHref("runs")}>Runs</a>
            {parent_id && (
              <>
                <Icon name="chevron" small />
                <a href={toHref(runPath(parent_id))}>parent</a>
              </>
            )}
            {session && (
              <>
                <Icon name="chevron" small />
                <a href={toHref(toSession(session))}>session</a>
              </>
            )}
          </p>
          <h1 class="clip" title={run.title}>
            {run.label ?? run.title}
          </h1>
          <p class="row">
            <Status state={stateOf(run)} />
            {run.questions > 0 && (
              <span class="chip warn">{plural(run.questions, "question")}</span>
            )}
            <code class="clip">{run.id}</code>
            <CopyButton text={run.id} label="Copy the id" brief />
          </p>
          {run.message !== "" && <p class="bad">{run.message}</p>}
        </div>
        <RunActions run={run} reload={reload} />
      </header>
      <dl class="facts">
        <Fact name="Cost" value={totals.calls === 0 ? "$0" : toCost(totals)} />
        <Fact name="Tokens in" value={toCount(totals.input_tokens)} />
        <Fact name="Tokens out" value={toCount(totals.output_tokens)} />
        <Fact name="Model calls" value={toCount(totals.calls)} />
        <Fact name="Took" value={toDuration(Math.max(0, endMs - created_at_ms))} />
        <Fact name="Began" value={toTime(created_at_ms)} title={toExactTime(created_at_ms)} />
        <Fact name="Model" value={run.model ?? "–"} />
      </dl>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
}

function Fact({ name, value, title = value }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );
}

/**
 * A client's own session is a list of requests, each with its whole conversation: none of them is continued.
 */
function toSession(session: string): string {
  return session.startsWith("client:")
    ? `runs?session=${encodeURIComponent(session)}`
    : `sessions/${encodeURIComponent(session)}`;
}
