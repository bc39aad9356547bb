/** Sessions: conversations that go on over several runs, those of the terminal, of clients and of the playground. */

import { address, refine, toHref } from "../core/address.ts";
import { get } from "../core/api.ts";
import { clip, toExactTime, toTime } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import type { ViewProps } from "../core/view-props.ts";
import type { Page, SessionDetail, SessionView } from "../core/views.ts";
import { Empty, Loaded } from "../parts/loaded.tsx";
import { Markdown } from "../parts/markdown.tsx";

export function SessionsView({ rest }: ViewProps) {
  const [id] = rest;
  return id ? <OneSession key={id} id={id} /> : <SessionList />;
}

function SessionList() {
  const search = address.value.query.get("search") ?? "";
  const sessions = useResource(
    search,
    (stop) => get<Page<SessionView>>("sessions", { search, limit: 100 }, stop),
    10_000,
  );
  return (
    <div class="view">
      <header>
        <h1>Sessions</h1>
      </header>
      <div class="filters">
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search what was said ( / )"
          value={search}
          onChange={(event) => refine({ search: event.currentTarget.value })}
        />
      </div>
      <Loaded of={sessions}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No sessions here.">
              Begin one with <code>offshoot chat</code>, or go on with a run:{" "}
              <code>offshoot run -c "…"</code>.
            </Empty>
          ) : (
            <div class="scrolls" tabIndex={0}>
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
                      <td>
                        <a href={toHref(`sessions/${session.id}`)}>
                          {clip(session.title || session.id, 100)}
                        </a>
                      </td>
                      <td class="quiet">{session.folder ?? "–"}</td>
                      <td class="number">{session.runs.length}</td>
                      <td class="number" title={toExactTime(session.used_at_ms)}>
                        {toTime(session.used_at_ms)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </div>
  );
}

function OneSession({ id }: { readonly id: string }) {
  const session = useResource(
    id,
    (stop) => get<SessionDetail>(`sessions/${encodeURIComponent(id)}`, {}, stop),
    5000,
  );
  return (
    <div class="view">
      <Loaded of={session}>
        {(detail) => (
          <>
            <header>
              <div>
                <h1 class="clip">{detail.title || id}</h1>
                <p class="quiet">
                  <code>{id}</code> {detail.folder && `in ${detail.folder}`}
                </p>
              </div>
              <p class="quiet">
                Go on in a terminal: <code>offshoot run --session {id} "…"</code>
              </p>
            </header>
            <p class="row">
              {detail.runs.map((run, at) => (
                <a key={run} href={toHref(`runs/${encodeURIComponent(run)}`)}>
                  run {at + 1}
                </a>
              ))}
            </p>
            <div class="conversation">
              {detail.turns.map((turn) => (
                <div key={turn.turn}>
                  {turn.prompt !== null && (
                    <section class="block user">
                      <b>User</b>
                      <pre class="plain">{turn.prompt}</pre>
                    </section>
                  )}
                  <section class="block assistant">
                    <b>Assistant</b>{" "}
                    {turn.calls.length > 0 && (
                      <span class="quiet">called {turn.calls.join(", ")}</span>
                    )}
                    <Markdown text={turn.text} />
                  </section>
                </div>
              ))}
            </div>
          </>
        )}
      </Loaded>
    </div>
  );
}
