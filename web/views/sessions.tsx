/**
 * Sessions: conversations that continue over several runs, from the terminal, from clients and from the playground.
 */

import { useAction } from "../core/act.ts";
import { address, go, refine, toHref } from "../core/address.ts";
import { get, post, runPath } from "../core/api.ts";
import { clip, toExactTime, toTime } from "../core/format.ts";
import { runNews } from "../core/news.ts";
import { useResource } from "../core/resource.ts";
import { canChange, mayDo } from "../core/session.ts";
import type { ViewProps } from "../core/view-props.ts";
import type { RecordPage, SessionDetail, SessionView } from "../core/views.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded, Said, ViewHead } from "../parts/loaded.tsx";
import { Markdown } from "../parts/markdown.tsx";

export function SessionsView({ rest }: ViewProps) {
  const [id] = rest;
  return id ? <OneSession key={id} id={id} /> : <SessionList />;
}

function SessionList() {
  const search = address.value.query.get("search") ?? "";
  const sessions = useResource(
    search,
    (stop) => get<RecordPage<SessionView>>("sessions", { search, limit: 100 }, stop),
    { news: runNews.value },
  );
  return (
    <div class="view">
      <ViewHead title="Sessions" about="Conversations that continue over several runs." />
      <div class="filters">
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search what was said"
          value={search}
          onChange={(event) => refine({ search: event.currentTarget.value })}
        />
      </div>
      <Loaded of={sessions}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No sessions here." icon="session">
              Begin one with <code>offshoot chat</code>, or go on with a run:{" "}
              <code>offshoot run -c "…"</code>.
            </Empty>
          ) : (
            <SessionTable data={data} />
          )
        }
      </Loaded>
    </div>
  );
}

function SessionTable({ data }: { readonly data: readonly SessionView[] }) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Title</th>
            <th>Folder</th>
            <th class="number">Runs</th>
            <th class="number">Last used</th>
          </tr>
        </thead>
        <tbody>
          {data.map((session) => (
            <tr key={session.id}>
              <td class="wide">
                <a href={toHref(`sessions/${session.id}`)}>
                  {clip(session.title || session.id, 100)}
                </a>
                {session.forked_from && <span class="chip">fork</span>}
              </td>
              <td class="quiet mono">{session.folder ?? "–"}</td>
              <td class="number">{session.runs.length}</td>
              <td class="number" title={toExactTime(session.used_at_ms)}>
                {toTime(session.used_at_ms)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function OneSession({ id }: { readonly id: string }) {
  const session = useResource(
    id,
    (stop) => get<SessionDetail>(`sessions/${encodeURIComponent(id)}`, {}, stop),
    { news: runNews.value },
  );
  return (
    <div class="view">
      <Loaded of={session}>
        {(detail) => (
          <>
            <SessionHead session={detail} />
            <div class="reading">
              <div class="conversation">
                {detail.turns.length === 0 && (
                  <p class="quiet">No turn has ended yet. Open the run to see it work.</p>
                )}
                {detail.turns.map((turn) => (
                  <SessionTurn key={turn.turn} session={detail} turn={turn} />
                ))}
              </div>
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}

function SessionHead({ session }: { readonly session: SessionDetail }) {
  const { id, title, folder, runs } = session;
  return (
    <header class="view-head">
      <div class="grow">
        <p class="crumbs">
          <a href={toHref("sessions")}>Sessions</a>
        </p>
        <h1 class="clip">{title || id}</h1>
        <p class="row">
          <code>{id}</code>
          <CopyButton
            text={`offshoot run --session ${id} "…"`}
            label="Copy the command that continues it"
            brief
          />
          {folder && <span class="quiet mono">{folder}</span>}
        </p>
        <p class="row">
          {runs.map((run, at) => (
            <a key={run} href={toHref(runPath(run))}>
              run {at + 1}
            </a>
          ))}
        </p>
      </div>
      {mayDo("responses") && (
        <a class="button" href={toHref(`playground?conversation=${id}`)}>
          <Icon name="play" /> Continue in the playground
        </a>
      )}
    </header>
  );
}

interface TurnProps {
  readonly session: SessionDetail;
  readonly turn: SessionDetail["turns"][number];
}

function SessionTurn({ session, turn }: TurnProps) {
  const action = useAction();
  const [first] = session.runs;
  const fork = (): Promise<boolean> =>
    action.run(async () => {
      const forked = await post<SessionView>(`${runPath(first ?? "")}/fork`, { turn: turn.turn });
      go(mayDo("responses") ? `playground?conversation=${forked.id}` : `sessions/${forked.id}`);
      return undefined;
    });
  return (
    <>
      {turn.prompt !== null && (
        <article class="block user" aria-label="user">
          <b>User</b>
          <pre class="plain said">{turn.prompt}</pre>
        </article>
      )}
      <article class="block assistant" aria-label="assistant">
        <header class="row spread">
          <b>Assistant</b>
          {first && canChange.value && (
            <button type="button" class="plain small" onClick={() => void fork()}>
              <Icon name="branch" small /> Continue from here
            </button>
          )}
        </header>
        {turn.calls.length > 0 && <p class="quiet">Called {turn.calls.join(", ")}</p>}
        <Markdown text={turn.text} />
        <Said of={action} />
      </article>
    </>
  );
}
