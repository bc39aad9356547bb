/**
 * The tables of a record in Postgres, as the list of steps that lead to them: the same rows as in SQLite
 * (`sqlite/tables.ts` says what each column holds), in a schema of their own. A step is never edited after
 * a release, a new one is added.
 *
 * Texts that are compared and sorted by us are of the collation "C": by their bytes, as in SQLite. A value is
 * JSON as text; one over 256 KB is in `parts`, a piece a row, and `<column>_parts` names it.
 */

import { NOTES_TABLES } from "./notes-function.ts";
import type { Queries } from "./postgres-database.ts";
import { noteOldRuns } from "./postgres-notes.ts";

/** SQL, or what SQL alone cannot do. Both inside the transaction of all steps. */
type Migration = string | ((tx: Queries) => Promise<void>);

export const MIGRATIONS: readonly Migration[] = [
  `
  create table offshoot.runs (
    id text collate "C" primary key,
    number bigint generated always as identity,   -- the order in which they were written down
    parent_id text collate "C",
    path text not null,
    name text collate "C" not null,
    title text not null,
    input text,
    input_parts text collate "C",
    created_at_ms bigint not null,
    status text not null default 'running' check (status in ('running', 'ended')),
    epoch bigint not null default 0,
    owner text collate "C",
    ending text,
    result text,
    result_parts text collate "C",
    ended_at_ms bigint,
    next_seq bigint not null default 0,
    tenant text collate "C",
    bytes bigint not null default 0
  );
  create index runs_by_age on offshoot.runs (created_at_ms, number);
  create index runs_by_parent on offshoot.runs (parent_id, created_at_ms, number);
  create index runs_running on offshoot.runs (created_at_ms, number) where status = 'running';
  create index runs_by_number on offshoot.runs (number);
  create index runs_owned on offshoot.runs (owner) where status = 'running';

  create table offshoot.parts (
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    id text collate "C" not null,
    part integer not null,
    bytes bytea not null,
    primary key (run_id, id, part)
  );

  create table offshoot.steps (
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    key text collate "C" not null,
    epoch bigint not null,
    value text,
    value_parts text collate "C",
    primary key (run_id, key)
  );

  create table offshoot.events (
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    first_seq bigint not null,
    count integer not null,
    epoch bigint not null,
    body text,
    body_parts text collate "C",
    primary key (run_id, first_seq)
  );

  create table offshoot.signals (
    id bigint generated always as identity primary key,
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    topic text collate "C" not null,
    key text collate "C" not null,
    body text not null,
    taken boolean not null default false,
    unique (run_id, topic, key)
  );
  create index signals_waiting on offshoot.signals (topic, run_id) where not taken;

  create table offshoot.workers (
    id text collate "C" primary key,
    host text not null,
    pid bigint not null,
    boot text not null,
    pid_namespace text not null,
    started text not null,
    beat_at_ms bigint not null,
    beat_ms double precision not null,
    beaten_at timestamptz not null default clock_timestamp()   -- by the clock of the database
  );

  create view offshoot.run_events as
    select e.run_id, e.first_seq + j.number - 1 as seq, j.event ->> 'type' as type, j.event
    from offshoot.events e
    cross join lateral json_array_elements(coalesce(e.body, (
      select convert_from(string_agg(p.bytes, ''::bytea order by p.part), 'UTF8')
      from offshoot.parts p where p.run_id = e.run_id and p.id = e.body_parts))::json)
      with ordinality as j (event, number);
  `,
  `
  create table offshoot.things (
    position bigint generated always as identity primary key,
    tenant text collate "C" not null,
    kind text collate "C" not null,
    id text collate "C" not null,
    parent text collate "C",
    body text not null,
    created_at_ms bigint not null,
    expires_at_ms bigint,
    content_bytes bigint not null default 0,
    unique (tenant, kind, id)
  );
  create index things_by_parent on offshoot.things (tenant, parent, kind, position);
  create index things_by_kind on offshoot.things (tenant, kind, position);
  create index things_by_id on offshoot.things (kind, id);
  create index things_expiring on offshoot.things (expires_at_ms, position)
    where expires_at_ms is not null;

  create table offshoot.contents (
    position bigint not null references offshoot.things (position) on delete cascade,
    part bigint not null,
    bytes bytea not null,
    primary key (position, part)
  );
  alter table offshoot.contents alter column bytes set storage external;

  create table offshoot.chunks (
    id bigint generated always as identity primary key,
    tenant text collate "C" not null,
    store text collate "C" not null,
    file text collate "C" not null,
    part integer not null,
    text text not null,
    words tsvector not null,
    embedding bytea,
    model text collate "C"
  );
  create index chunks_by_store on offshoot.chunks (tenant, store, file, part);
  create index chunks_by_words on offshoot.chunks using gin (words);

  create table offshoot.spending (
    key_id text collate "C" not null,
    "window" text collate "C" not null,
    requests bigint not null default 0,
    tokens bigint not null default 0,
    usd double precision not null default 0,
    unpriced bigint not null default 0,
    primary key (key_id, "window")
  );
  create index spending_by_window on offshoot.spending ("window", key_id);

  create table offshoot.holds (
    id text collate "C" primary key,
    key_id text collate "C" not null,
    tokens bigint not null,
    usd double precision not null,
    beat_at_ms bigint not null
  );
  create index holds_by_key on offshoot.holds (key_id);

  create table offshoot.audit (
    id bigint generated always as identity primary key,
    at_ms bigint not null,
    tenant text collate "C" not null,
    key_id text collate "C",
    action text collate "C" not null,
    target text collate "C",
    status integer not null,
    address text
  );
  create index audit_by_age on offshoot.audit (at_ms);

  create table offshoot.turns (
    run_id text collate "C" primary key references offshoot.runs (id) on delete cascade,
    queue text collate "C" not null,
    lane text collate "C" not null,
    has_turn boolean not null default false
  );
  create index turns_by_queue on offshoot.turns (queue, has_turn, lane);

  create table offshoot.lanes (
    queue text collate "C" not null,
    lane text collate "C" not null,
    last_turn bigint not null,
    primary key (queue, lane)
  );
  `,
  `
  -- What each tenant keeps. Several rows a tenant, so that those who write at once do not wait for one row.
  create table offshoot.storage (
    tenant text collate "C" not null,
    slot integer not null,
    bytes bigint not null,
    primary key (tenant, slot)
  );
  create function offshoot.count_bytes(of_tenant text, more bigint) returns void language sql as $$
    insert into offshoot.storage as s (tenant, slot, bytes)
      values (of_tenant, pg_backend_pid() % 16, more)
      on conflict (tenant, slot) do update set bytes = s.bytes + excluded.bytes;
  $$;
  create function offshoot.contents_counted() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      update offshoot.things set content_bytes = content_bytes + length(new.bytes)
        where position = new.position;
    else
      update offshoot.things set content_bytes = content_bytes - length(old.bytes)
        where position = old.position;
    end if;
    return null;
  end $$;
  create trigger contents_counted after insert or delete on offshoot.contents
    for each row execute function offshoot.contents_counted();
  create function offshoot.things_counted() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      perform offshoot.count_bytes(new.tenant, octet_length(new.body) + new.content_bytes);
    elsif tg_op = 'UPDATE' then
      perform offshoot.count_bytes(new.tenant, octet_length(new.body) - octet_length(old.body)
        + new.content_bytes - old.content_bytes);
    else
      perform offshoot.count_bytes(old.tenant, -octet_length(old.body) - old.content_bytes);
    end if;
    return null;
  end $$;
  create trigger things_counted after insert or delete or update of body, content_bytes
    on offshoot.things for each row execute function offshoot.things_counted();
  create function offshoot.chunks_counted() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      perform offshoot.count_bytes(new.tenant,
        octet_length(new.text) + coalesce(length(new.embedding), 0));
    else
      perform offshoot.count_bytes(old.tenant,
        -octet_length(old.text) - coalesce(length(old.embedding), 0));
    end if;
    return null;
  end $$;
  create trigger chunks_counted after insert or delete on offshoot.chunks
    for each row execute function offshoot.chunks_counted();
  create function offshoot.runs_counted() returns trigger language plpgsql as $$ begin
    if tg_op = 'UPDATE' then
      perform offshoot.count_bytes(new.tenant, new.bytes - old.bytes);
    else
      perform offshoot.count_bytes(old.tenant, -old.bytes);
    end if;
    return null;
  end $$;
  create trigger runs_counted after update of bytes on offshoot.runs
    for each row when (new.tenant is not null and new.bytes <> old.bytes)
    execute function offshoot.runs_counted();
  create trigger runs_uncounted after delete on offshoot.runs
    for each row when (old.tenant is not null and old.bytes <> 0)
    execute function offshoot.runs_counted();

  create function offshoot.turns_over() returns trigger language plpgsql as $$ begin
    delete from offshoot.turns where run_id = new.id;
    return null;
  end $$;
  create trigger turns_over after update of status on offshoot.runs
    for each row when (new.status = 'ended') execute function offshoot.turns_over();

  -- Files of vector stores are indexed by runs, which their things name: a crash between two writes leaves
  -- neither chunks nor a run of a file that is gone or added again.
  create function offshoot.store_files() returns trigger language plpgsql as $$ begin
    delete from offshoot.chunks where tenant = old.tenant and store = old.parent
      and file = old.body::json ->> 'file_id';
    if tg_op = 'DELETE' then
      delete from offshoot.runs where id = old.body::json ->> 'run_id';
    else
      delete from offshoot.runs where id = old.body::json ->> 'run_id'
        and id is distinct from new.body::json ->> 'run_id';
    end if;
    return null;
  end $$;
  create trigger store_files_removed after delete on offshoot.things
    for each row when (old.kind = 'vector_store.file') execute function offshoot.store_files();
  create trigger store_files_changed after update of body on offshoot.things
    for each row when (new.kind = 'vector_store.file' and (
      new.body::json ->> 'status' in ('cancelled', 'failed')
      or new.body::json ->> 'run_id' is distinct from old.body::json ->> 'run_id'))
    execute function offshoot.store_files();
  create function offshoot.index_runs_over() returns trigger language plpgsql as $$ begin
    if not exists (select 1 from offshoot.things where kind = 'vector_store.file'
        and id = (new.input::json ->> 'store') || '/' || (new.input::json ->> 'file')
        and tenant = new.input::json ->> 'tenant' and body::json ->> 'run_id' = new.id) then
      delete from offshoot.runs where id = new.id;
    end if;
    return null;
  end $$;
  create trigger index_runs_over after update of status on offshoot.runs
    for each row when (new.status = 'ended' and new.name = 'index')
    execute function offshoot.index_runs_over();
  `,
  `
  -- Requests of keys with \`concurrent\` that are on their way in any process. Unlogged: each process says again
  -- what it has. Who is silent for a lease does not count; the rows stay for ten minutes, because a process that
  -- stood still goes on with its requests.
  create unlogged table offshoot.places (
    id text collate "C" primary key,
    key_id text collate "C" not null,
    beaten_at timestamptz not null default clock_timestamp()   -- by the clock of the database
  );
  create index places_by_key on offshoot.places (key_id);
  -- Of a function each statement sees what was committed before it began: so the count is that of after the lock.
  create function offshoot.take_place(place text, of_key text, at_most integer, lease_ms integer)
  returns boolean language plpgsql as $$ begin
    perform pg_advisory_xact_lock(hashtextextended('place ' || of_key, 0));
    delete from offshoot.places
      where key_id = of_key and beaten_at < clock_timestamp() - interval '10 minutes';
    insert into offshoot.places (id, key_id) select place, of_key
      where at_most > (select count(*) from offshoot.places where key_id = of_key and id <> place
        and beaten_at > clock_timestamp() - lease_ms * interval '1 millisecond')
      on conflict (id) do nothing;
    return exists (select 1 from offshoot.places where id = place);
  end $$;
  `,
  `
  -- How many calls vendors' accounts take, as the processes of all servers share it. Unlogged: what is lost is told
  -- again, or found out again.
  create unlogged table offshoot.vendor_limits (
    account text collate "C" primary key,  -- a hash
    "limit" double precision not null default 1,
    round bigint not null default 0,       -- grows with each decrease
    paused_until timestamptz not null default 'epoch',
    told_at timestamptz not null default 'epoch'
  );
  create unlogged table offshoot.vendor_demands (
    account text collate "C" not null,
    process text collate "C" not null,
    calls bigint not null,                 -- in flight and waiting
    beaten_at timestamptz not null default clock_timestamp(),
    primary key (account, process)
  );
  `,
  `
  -- What was booked within the last hour, by names that are given once: where the answer to a booking is lost, it is
  -- asked for again, and made once.
  create table offshoot.bookings (
    id text collate "C" primary key,
    booked_at timestamptz not null default clock_timestamp()   -- by the clock of the database
  );
  create index bookings_by_age on offshoot.bookings (booked_at);
  `,
  `
  -- A run goes on only with a program that knows its journal; those before this column are of the first version.
  alter table offshoot.runs add column journal integer not null default 1;
  `,
  NOTES_TABLES,
  noteOldRuns,
];
