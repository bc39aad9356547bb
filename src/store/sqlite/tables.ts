/**
 * The tables, as the list of steps that lead to them. A step is never edited after a release, a new one is added.
 *
 * People run plain SQL on these tables, so every column says what it holds. Times are milliseconds
 * since 1970. A value over 256 KB is in `blobs`: the column is null then and `<column>_blob` names it. The
 * text of a large one, and of a thing's large body, is in `parts`, a piece a row.
 */

import { NOTES_TABLES } from "./notes-tables.ts";
import type { SqliteConnection } from "./sqlite-driver.ts";
import { noteOldRuns } from "./sqlite-notes.ts";

/** SQL, or what SQL alone cannot do. Both inside the transaction of all steps. */
type Migration = string | ((connection: SqliteConnection) => void);

export const MIGRATIONS: readonly Migration[] = [
  `
  -- One row for each run: a main agent, a subagent and a server response alike.
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
  -- What the server keeps for its tenants: responses, conversations, files, keys. One row for each thing.
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
  -- Tokens that cost nothing are distinguished from tokens whose price is not known, from this version on.
  alter table spending add column unpriced integer not null default 0;
  -- It is not known for those before.
  update spending set unpriced = tokens where usd = 0;
  `,
  `
  -- Large values, one piece in each row: each is written in a transaction of its own, so other writers do not wait for all.
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
  alter table drafts add column boot text;    -- whose monotonic time it is; null if it is not known
  alter table drafts add column grew_ms integer not null default 0;
  `,
  `
  -- A run goes on only with a program that knows its journal; those before this column are of the first version.
  alter table runs add column journal integer not null default 1;
  `,
  NOTES_TABLES,
  noteOldRuns,
  `
  -- The id of a run begins with that of its root: a range of each primary key is a tree.
  drop index facts_by_root;
  drop index spans_by_root;
  drop index usage_by_root;
  `,
];
