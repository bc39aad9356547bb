/**
 * The tables, as the list of steps that lead to them. `user_version` of the file counts the steps
 * taken; a step is never edited after a release, a new one is added.
 *
 * People run plain SQL on these tables, so every column says what it holds. Times are milliseconds
 * since 1970. A value over 256 KB is in `blobs`: the column is null then and `<column>_blob` names it. The
 * text of a large one, and of a thing's large body, is in `parts`, a piece a row.
 */

import { Failure } from "../../base/failure.ts";
import type { Connection } from "./sqlite-driver.ts";
import { noteOldRuns } from "./sqlite-notes.ts";

/** Marks a file as ours: "Offs" in ASCII. */
const APPLICATION_ID = 0x4f666673;

/** SQL, or what SQL alone cannot do. Both inside the transaction of all steps. */
type Migration = string | ((connection: Connection) => void);

const MIGRATIONS: readonly Migration[] = [
  `
  -- One row a run: a main agent, a subagent and a server response alike.
  create table runs (
    id text primary key,           -- 'run_…'; a child's is '<parent id>/<key>'
    parent_id text,                -- the run that started this one, or null
    path text not null,            -- who delegated to whom: '/root/research'
    name text not null,            -- which body runs it
    title text not null,           -- one line for a listing
    input text,                    -- JSON given at the start
    input_blob text,
    created_at_ms integer not null,
    status text not null default 'running' check (status in ('running', 'ended')),
    epoch integer not null default 0,    -- grows at each takeover; writes of older ones are refused
    owner text,                    -- workers.id of the process that runs it, or last did
    ending text,                   -- 'completed', 'failed', …; null while running
    result text,                   -- JSON; null while running
    result_blob text,
    ended_at_ms integer,
    next_seq integer not null default 0  -- the number the next event gets
  ) strict;
  create index runs_by_age on runs (created_at_ms);
  create index runs_by_parent on runs (parent_id, created_at_ms);
  create index runs_running on runs (created_at_ms) where status = 'running';

  -- The journal: what finished steps returned. A key that starts with '@' is the engine's own.
  create table steps (
    run_id text not null references runs (id) on delete cascade,
    key text not null,             -- 'model:3', 'tool:<call id>'
    epoch integer not null,        -- the owner that finished it
    value text,                    -- JSON
    value_blob text,
    primary key (run_id, key)
  ) strict;

  -- The log, one row a batch: a burst of deltas is one insert. The view run_events has one row each.
  create table events (
    run_id text not null references runs (id) on delete cascade,
    first_seq integer not null,    -- number of the batch's first event
    count integer not null,
    epoch integer not null,        -- the owner that wrote it
    body text,                     -- JSON array of events
    body_blob text,
    primary key (run_id, first_seq)
  ) strict;

  -- Large values, by the SHA-256 of their text; each belongs to one run and goes with it.
  create table blobs (
    run_id text not null references runs (id) on delete cascade,
    sha256 text not null,
    body text not null,            -- JSON
    primary key (run_id, sha256)
  ) strict;

  -- Messages left for runs: approvals, user input.
  create table signals (
    id integer primary key,        -- the order in which they came
    run_id text not null references runs (id) on delete cascade,
    topic text not null,
    key text not null,             -- a second message with the same key is the same message
    body text not null,            -- JSON
    taken integer not null default 0,    -- 1 once the run has it
    unique (run_id, topic, key)
  ) strict;

  -- Processes that own runs, or did.
  create table workers (
    id text primary key,
    host text not null,
    pid integer not null,
    beat_at_ms integer not null    -- when it last said that it lives
  ) strict;

  create view run_events as
    select e.run_id, e.first_seq + j.key as seq, j.value ->> 'type' as type, j.value as event
    from events e
    left join blobs b on b.run_id = e.run_id and b.sha256 = e.body_blob
    join json_each(coalesce(e.body, b.body)) j;
  `,
  `
  -- What the server keeps for its tenants: responses, conversations, files, keys. One row a thing.
  create table things (
    position integer primary key autoincrement,  -- grows with each thing
    tenant text not null,          -- whose it is; '' for the server's own
    kind text not null,            -- 'response', 'conversation', 'file'
    id text not null,
    parent text,                   -- id of the thing it goes with, or null
    body text not null,            -- JSON
    created_at_ms integer not null,
    expires_at_ms integer,         -- when it is to go; null for never
    unique (tenant, kind, id)
  ) strict;
  create index things_by_parent on things (tenant, parent, kind, position);
  create index things_by_kind on things (tenant, kind, position);
  create index things_expiring on things (expires_at_ms) where expires_at_ms is not null;

  -- The bytes of things, in pieces of a megabyte.
  create table contents (
    position integer not null references things (position) on delete cascade,
    part integer not null,         -- order; an empty piece ends the bytes
    bytes blob not null,
    primary key (position, part)
  ) strict;

  -- Pieces of files that can be searched, by the vector store they were added to.
  create table chunks (
    id integer primary key,
    tenant text not null,
    store text not null,           -- id of the vector store
    file text not null,            -- id of the file
    part integer not null,         -- from 0, in the order of the text
    text text not null,
    embedding blob,                -- 32-bit floats; null where there are no embeddings
    model text                     -- what made the embedding
  ) strict;
  create index chunks_by_store on chunks (tenant, store, file, part);
  create virtual table chunk_words using fts5(
    text, content = 'chunks', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
  create trigger chunks_added after insert on chunks begin
    insert into chunk_words (rowid, text) values (new.id, new.text);
  end;
  create trigger chunks_removed after delete on chunks begin
    insert into chunk_words (chunk_words, rowid, text) values ('delete', old.id, old.text);
  end;

  -- What keys have used, by window of time, for their limits.
  create table spending (
    key_id text not null,
    window text not null,          -- 'total', or when the window began: '2026-11-15', '2026-11-15T10:31'
    requests integer not null default 0,
    tokens integer not null default 0,
    usd real not null default 0,
    primary key (key_id, window)
  ) strict;

  -- Who did what, without its words.
  create table audit (
    id integer primary key,
    at_ms integer not null,
    tenant text not null,
    key_id text,                   -- null where no key was shown
    action text not null,          -- 'responses.create'
    target text,                   -- the id it was about, or null
    status integer not null,       -- of the HTTP answer
    address text                   -- who asked
  ) strict;
  create index audit_by_age on audit (at_ms);
  `,
  `
  -- What responses on their way have set aside of their keys' budgets; each goes when its run ends.
  create table holds (
    id text primary key,           -- the run it is for
    key_id text not null,
    tokens integer not null,
    usd real not null,
    beat_at_ms integer not null    -- when it last grew, or its process said that it goes on
  ) strict;
  create index holds_by_key on holds (key_id);
  `,
  `
  -- What each tenant keeps, counted as it is written: bodies, bytes and chunks.
  create table storage (
    tenant text primary key,
    bytes integer not null
  ) strict;
  alter table things add column content_bytes integer not null default 0;  -- of its rows in contents
  update things set content_bytes = (
    select coalesce(sum(length(bytes)), 0) from contents where contents.position = things.position);
  insert into storage (tenant, bytes)
    select tenant, sum(bytes) from (
      select tenant, length(cast(body as blob)) + content_bytes as bytes from things
      union all
      select tenant, length(cast(text as blob)) + coalesce(length(embedding), 0) from chunks)
    group by tenant;
  create trigger contents_counted after insert on contents begin
    update things set content_bytes = content_bytes + length(new.bytes)
      where position = new.position;
  end;
  create trigger contents_uncounted after delete on contents begin
    update things set content_bytes = content_bytes - length(old.bytes)
      where position = old.position;
  end;
  create trigger things_counted after insert on things begin
    insert into storage (tenant, bytes)
      values (new.tenant, length(cast(new.body as blob)) + new.content_bytes)
      on conflict do update set bytes = bytes + excluded.bytes;
  end;
  create trigger things_recounted after update of body, content_bytes on things begin
    update storage set bytes = bytes + new.content_bytes - old.content_bytes
        + length(cast(new.body as blob)) - length(cast(old.body as blob))
      where tenant = new.tenant;
  end;
  create trigger things_uncounted after delete on things begin
    update storage set bytes = bytes - length(cast(old.body as blob)) - old.content_bytes
      where tenant = old.tenant;
  end;
  create trigger chunks_counted after insert on chunks begin
    insert into storage (tenant, bytes)
      values (new.tenant, length(cast(new.text as blob)) + coalesce(length(new.embedding), 0))
      on conflict do update set bytes = bytes + excluded.bytes;
  end;
  create trigger chunks_uncounted after delete on chunks begin
    update storage set bytes = bytes - length(cast(old.text as blob))
        - coalesce(length(old.embedding), 0)
      where tenant = old.tenant;
  end;
  `,
  `
  alter table workers add column boot text not null default '';
  alter table workers add column pid_namespace text not null default '';
  alter table workers add column started text not null default '';
  alter table workers add column beat_ms integer not null default 0;
  `,
  `
  -- What tenants keep includes the logs of their responses, from this version on.
  alter table runs add column tenant text;    -- whose run it is; null for runs of the command line
  alter table runs add column bytes integer not null default 0;  -- of its input, journal, log and result
  create trigger runs_counted after update of bytes on runs when new.tenant is not null begin
    insert into storage (tenant, bytes) values (new.tenant, new.bytes - old.bytes)
      on conflict do update set bytes = bytes + excluded.bytes;
  end;
  create trigger runs_uncounted after delete on runs when old.tenant is not null begin
    update storage set bytes = bytes - old.bytes where tenant = old.tenant;
  end;

  -- One row, written again and again to see whether there is room for more.
  create table probe (
    id integer primary key check (id = 1),
    bytes blob not null
  ) strict;
  `,
  `
  -- Runs that take turns in a queue: background responses, files to be indexed. Gone when the run ends.
  create table turns (
    run_id text primary key references runs (id) on delete cascade,
    queue text not null,           -- 'background', 'index'
    lane text not null,            -- whose it is: turns go round the lanes
    has_turn integer not null default 0  -- 0 while it waits, without an owner
  ) strict;
  create index turns_by_queue on turns (queue, has_turn, lane);
  create trigger turns_over after update of status on runs when new.status = 'ended' begin
    delete from turns where run_id = new.id;
  end;

  -- Which lane of a queue had its last turn when: the lowest is next.
  create table lanes (
    queue text not null,
    lane text not null,
    last_turn integer not null,    -- grows with each turn of the queue
    primary key (queue, lane)
  ) strict;

  -- Files of vector stores are indexed by runs, which their things name. What was on its way without one
  -- has to be added again.
  update things set body = json_set(body, '$.status', 'failed', '$.last_error', json_object(
      'code', 'server_error', 'message', 'An update interrupted the indexing. Add the file again.'))
    where kind = 'vector_store.file' and body ->> 'status' = 'in_progress';
  delete from things where tenant = '' and kind = 'indexing';
  -- A crash between two writes leaves neither chunks nor a run of a file that is gone or added again.
  create trigger store_files_removed after delete on things
  when old.kind = 'vector_store.file' begin
    delete from chunks
      where tenant = old.tenant and store = old.parent and file = old.body ->> 'file_id';
    delete from runs where id = old.body ->> 'run_id';
  end;
  create trigger store_files_changed after update of body on things
  when new.kind = 'vector_store.file' and (new.body ->> 'status' in ('cancelled', 'failed')
      or new.body ->> 'run_id' is not old.body ->> 'run_id') begin
    delete from chunks
      where tenant = old.tenant and store = old.parent and file = old.body ->> 'file_id';
    delete from runs
      where id = old.body ->> 'run_id' and id is not new.body ->> 'run_id';
  end;
  create trigger index_runs_over after update of status on runs
  when new.status = 'ended' and new.name = 'index' and not exists (
      select 1 from things where kind = 'vector_store.file'
        and id = (new.input ->> 'store') || '/' || (new.input ->> 'file')
        and tenant = new.input ->> 'tenant' and body ->> 'run_id' = new.id) begin
    delete from runs where id = new.id;
  end;
  `,
  `
  -- Tokens that cost nothing are told from tokens whose price is not known, from this version on.
  alter table spending add column unpriced integer not null default 0;
  -- Of those before nobody knows.
  update spending set unpriced = tokens where usd = 0;
  `,
  `
  -- Large values, a piece a row: each is written in a transaction of its own, so nobody waits for all of it.
  create table parts (
    id text not null,              -- blobs.parts
    part integer not null,         -- from 0
    bytes blob not null,           -- of the JSON
    primary key (id, part)
  ) strict;
  -- Parts that nothing refers to yet: a value that is being written, or that a crash cut off.
  create table drafts (
    id text primary key,           -- parts.id
    created_at_ms integer not null
  ) strict;
  alter table blobs add column parts text;    -- where the JSON is, if it is large; body is empty then
  create trigger parts_removed after delete on blobs when old.parts is not null begin
    delete from parts where id = old.parts;
  end;
  drop view run_events;
  create view run_events as
    select e.run_id, e.first_seq + j.key as seq, j.value ->> 'type' as type, j.value as event
    from events e
    left join blobs b on b.run_id = e.run_id and b.sha256 = e.body_blob
    join json_each(coalesce(e.body, nullif(b.body, ''), (
      select group_concat(cast(bytes as text), '') from (
        select bytes from parts where parts.id = b.parts order by part)))) j;
  `,
  `
  -- Large bodies of things, too, are written a piece at a time.
  alter table things add column parts text;   -- where the body is, if it is large; body is null in JSON then
  alter table things add column parts_bytes integer not null default 0;  -- how long the body is there
  create trigger thing_parts_removed after delete on things when old.parts is not null begin
    delete from parts where id = old.parts;
  end;
  create trigger thing_parts_replaced after update of parts on things
  when old.parts is not null and old.parts is not new.parts begin
    delete from parts where id = old.parts;
  end;
  drop trigger things_counted;
  drop trigger things_recounted;
  drop trigger things_uncounted;
  create trigger things_counted after insert on things begin
    insert into storage (tenant, bytes) values (new.tenant, new.content_bytes
        + iif(new.parts is null, length(cast(new.body as blob)), new.parts_bytes))
      on conflict do update set bytes = bytes + excluded.bytes;
  end;
  create trigger things_recounted after update of body, parts, content_bytes on things begin
    update storage set bytes = bytes + new.content_bytes - old.content_bytes
        + iif(new.parts is null, length(cast(new.body as blob)), new.parts_bytes)
        - iif(old.parts is null, length(cast(old.body as blob)), old.parts_bytes)
      where tenant = new.tenant;
  end;
  create trigger things_uncounted after delete on things begin
    update storage set bytes = bytes - old.content_bytes
        - iif(old.parts is null, length(cast(old.body as blob)), old.parts_bytes)
      where tenant = old.tenant;
  end;
  `,
  `
  -- When a draft last grew, in monotonic time: the wall clock may be set while somebody writes.
  alter table drafts add column boot text;    -- whose monotonic time it is; null where nobody said
  alter table drafts add column grew_ms integer not null default 0;
  `,
  `
  -- A run goes on only with a program that knows its journal; those before this column are of the first version.
  alter table runs add column journal integer not null default 1;
  `,
  `
  -- What lists and sums are made of, so that nobody reads logs for them. Written in the transaction of the events.
  create table run_facts (
    run_id text primary key references runs (id) on delete cascade,
    root_id text not null,         -- the run that a person or a request started
    parent_id text,
    tenant text not null,          -- 'default' for runs of the command line
    key_id text,                   -- the key whose request it answers
    name text not null,            -- which body runs it
    title text not null,
    created_at_ms integer not null,
    status text not null default 'running',
    ending text,
    ended_at_ms integer,
    message text not null default '',    -- why it ended so, cut short
    model text,
    label text,
    agent text,
    session text,
    folder text,
    turns integer not null default 0,
    calls integer not null default 0,    -- of tools
    turn_seq integer,              -- of the model call that is open
    turn_at_ms integer
  ) strict;
  create index facts_by_age on run_facts (created_at_ms, run_id) where parent_id is null;
  create index facts_by_tenant on run_facts (tenant, created_at_ms, run_id) where parent_id is null;
  create index facts_by_model on run_facts (model, created_at_ms, run_id) where parent_id is null;
  create index facts_by_session on run_facts (session, created_at_ms, run_id)
    where parent_id is null and session is not null;
  create index facts_by_key on run_facts (key_id, created_at_ms, run_id)
    where parent_id is null and key_id is not null;
  create index facts_by_folder on run_facts (folder, created_at_ms, run_id) where parent_id is null;
  create index facts_running on run_facts (created_at_ms, run_id)
    where parent_id is null and status = 'running';
  create index facts_by_parent on run_facts (parent_id, created_at_ms, run_id)
    where parent_id is not null;
  create index facts_by_root on run_facts (root_id, run_id);

  -- Model calls, tool calls and children of runs: a tree without its words.
  create table spans (
    run_id text not null references runs (id) on delete cascade,
    seq integer not null,          -- of the event that opened it
    root_id text not null,
    kind text not null,            -- 'turn', 'compaction', 'call', 'child'
    turn integer,
    name text,                     -- of the tool; the label of a child
    key text,                      -- the call's id; the child's run
    under text,                    -- of a child: the key of the call that asked for it
    day text not null,             -- '2026-11-18', of its start
    started_at_ms integer not null,
    ended_at_ms integer,
    status text not null default 'open', -- 'open', 'ok', 'failed', 'denied', 'cut'
    decided_by text,
    primary key (run_id, seq)
  ) strict, without rowid;
  create index spans_by_root on spans (root_id, run_id, seq);
  create index spans_open on spans (run_id, key) where ended_at_ms is null;
  create index spans_of_tools on spans (day, name) where kind = 'call';

  -- What each model call used. Stays when its run is deleted, without the words of its model.
  create table usage (
    run_id text not null,
    seq integer not null,          -- of the event that opened it; of 'run_end' for calls that broke off
    root_id text not null,
    tenant text not null,
    key_id text,
    model text,
    label text,                    -- of the subagent, or the agent that it is
    kind text not null,            -- 'turn', 'compaction', 'cut'
    turn integer,
    day text not null,             -- of UTC
    at_ms integer not null,
    ms integer not null,
    input_tokens integer not null,
    cached_tokens integer not null,
    output_tokens integer not null,
    reasoning_tokens integer not null,
    usd real,                      -- null where the price is not known
    primary key (run_id, seq)
  ) strict, without rowid;
  create index usage_by_day on usage (day, tenant);
  create index usage_by_root on usage (root_id);

  -- Calls that wait, or waited, for a person's answer.
  create table questions (
    run_id text not null references runs (id) on delete cascade,
    question text not null,        -- its name in its run
    seq integer not null,
    root_id text not null,
    tenant text not null,
    at_ms integer not null,
    until_ms integer,              -- when it is denied without an answer
    body text not null,            -- JSON: the event
    closed_at_ms integer,          -- null while it is open
    verdict text,                  -- 'allow', 'deny'; null for one whose asker is gone
    reason text,
    primary key (run_id, question)
  ) strict;
  create index questions_open on questions (at_ms, run_id) where closed_at_ms is null;
  create index questions_open_by_tenant on questions (tenant, at_ms, run_id)
    where closed_at_ms is null;
  create index questions_open_by_root on questions (root_id, run_id) where closed_at_ms is null;

  create trigger facts_over after update of status on runs when new.status = 'ended' begin
    update run_facts set status = 'ended', ending = new.ending, ended_at_ms = new.ended_at_ms,
      turn_seq = null, turn_at_ms = null where run_id = new.id;
    update spans set status = 'cut', ended_at_ms = new.ended_at_ms
      where run_id = new.id and ended_at_ms is null;
    update questions set closed_at_ms = new.ended_at_ms
      where run_id = new.id and closed_at_ms is null;
  end;
  -- Numbers stay, words go: the label of a subagent is its model's word, and it is in the id of its run.
  create trigger usage_of_deleted after delete on run_facts begin
    update usage set label = old.agent,
        run_id = iif(run_id = root_id, run_id, root_id || '/' || hex(randomblob(8)))
      where run_id = old.run_id;
  end;
  `,
  noteOldRuns,
];

/** Brings the tables up to date. Safe when several processes open a new file at once. */
export function migrate(connection: Connection, migrations = MIGRATIONS): void {
  if (readVersion(connection, migrations.length) === migrations.length) return;
  connection.exec("begin immediate");
  try {
    // Read again under the lock: another process may have done the work meanwhile.
    const version = readVersion(connection, migrations.length);
    for (const step of migrations.slice(version)) {
      if (typeof step === "string") connection.exec(step);
      else step(connection);
    }
    connection.exec(`pragma application_id = ${APPLICATION_ID}`);
    connection.exec(`pragma user_version = ${migrations.length}`);
    connection.exec("commit");
  } catch (thrown) {
    connection.exec("rollback");
    throw thrown;
  }
}

/** Rejects a file of another program, or of a newer version, before anything of it is changed. */
export function refuseForeign(connection: Connection): void {
  readVersion(connection, MIGRATIONS.length);
}

function readVersion(connection: Connection, latest: number): number {
  const version = readPragma(connection, "user_version");
  const tables = connection.prepare("select count(*) as count from sqlite_schema").get();
  const isOurs = readPragma(connection, "application_id") === APPLICATION_ID;
  if (!isOurs && (version > 0 || Number(tables?.["count"]) > 0)) {
    throw new Failure("invalid_request", "it is a database of another program");
  }
  if (version <= latest) return version;
  const message = `it was written by a newer Offshoot (tables version ${version}, this one knows ${latest}): update Offshoot`;
  throw new Failure("invalid_request", message);
}

function readPragma(connection: Connection, name: string): number {
  return Number(connection.prepare(`pragma ${name}`).get()?.[name]);
}
