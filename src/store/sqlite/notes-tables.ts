/** The tables of notes about each run beside its log: a step of `tables.ts`. `sqlite-notes.ts` writes these tables. */

export const NOTES_TABLES = `
  -- What lists and sums are made of, so that they need no logs. Written in the transaction of the events.
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
  `;
