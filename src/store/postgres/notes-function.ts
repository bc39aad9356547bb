/**
 * The tables of `run-notes.ts` and the function that writes them: called by the statement that writes the events, so
 * that an append stays one statement. The same rules as in `sqlite/sqlite-notes.ts`; one suite tests both.
 */

export const NOTES_TABLES = `
  create table offshoot.run_facts (
    run_id text collate "C" primary key references offshoot.runs (id) on delete cascade,
    root_id text collate "C" not null,
    parent_id text collate "C",
    tenant text collate "C" not null,
    key_id text collate "C",
    name text collate "C" not null,
    title text not null,
    created_at_ms bigint not null,
    status text collate "C" not null default 'running',
    ending text collate "C",
    ended_at_ms bigint,
    message text not null default '',
    model text collate "C",
    label text collate "C",
    agent text collate "C",
    session text collate "C",
    folder text collate "C",
    turns bigint not null default 0,
    calls bigint not null default 0,
    turn_seq bigint,
    turn_at_ms bigint
  );
  create index facts_by_age on offshoot.run_facts (created_at_ms, run_id) where parent_id is null;
  create index facts_by_tenant on offshoot.run_facts (tenant, created_at_ms, run_id)
    where parent_id is null;
  create index facts_by_model on offshoot.run_facts (model, created_at_ms, run_id)
    where parent_id is null;
  create index facts_by_session on offshoot.run_facts (session, created_at_ms, run_id)
    where parent_id is null and session is not null;
  create index facts_by_key on offshoot.run_facts (key_id, created_at_ms, run_id)
    where parent_id is null and key_id is not null;
  create index facts_by_folder on offshoot.run_facts (folder, created_at_ms, run_id)
    where parent_id is null;
  create index facts_running on offshoot.run_facts (created_at_ms, run_id)
    where parent_id is null and status = 'running';
  create index facts_by_parent on offshoot.run_facts (parent_id, created_at_ms, run_id)
    where parent_id is not null;
  create index facts_by_root on offshoot.run_facts (root_id, run_id);

  create table offshoot.spans (
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    seq bigint not null,
    root_id text collate "C" not null,
    kind text collate "C" not null,
    turn bigint,
    name text collate "C",
    key text collate "C",
    under text collate "C",
    day text collate "C" not null,
    started_at_ms bigint not null,
    ended_at_ms bigint,
    status text collate "C" not null default 'open',
    decided_by text collate "C",
    primary key (run_id, seq)
  );
  create index spans_by_root on offshoot.spans (root_id, run_id, seq);
  create index spans_open on offshoot.spans (run_id) where ended_at_ms is null;
  create index spans_of_tools on offshoot.spans (day) where kind = 'call';

  create table offshoot.usage (
    run_id text collate "C" not null,
    seq bigint not null,
    root_id text collate "C" not null,
    tenant text collate "C" not null,
    key_id text collate "C",
    model text collate "C",
    label text collate "C",
    kind text collate "C" not null,
    turn bigint,
    day text collate "C" not null,
    at_ms bigint not null,
    ms bigint not null,
    input_tokens bigint not null,
    cached_tokens bigint not null,
    output_tokens bigint not null,
    reasoning_tokens bigint not null,
    usd double precision,
    primary key (run_id, seq)
  );
  create index usage_by_day on offshoot.usage (day, tenant);
  create index usage_by_root on offshoot.usage (root_id);

  create table offshoot.questions (
    run_id text collate "C" not null references offshoot.runs (id) on delete cascade,
    question text collate "C" not null,
    seq bigint not null,
    root_id text collate "C" not null,
    tenant text collate "C" not null,
    at_ms bigint not null,
    until_ms bigint,
    body text not null,
    closed_at_ms bigint,
    verdict text collate "C",
    reason text,
    primary key (run_id, question)
  );
  create index questions_open on offshoot.questions (at_ms, run_id) where closed_at_ms is null;
  create index questions_open_by_tenant on offshoot.questions (tenant, at_ms, run_id)
    where closed_at_ms is null;
  create index questions_open_by_root on offshoot.questions (root_id, run_id)
    where closed_at_ms is null;

  create function offshoot.facts_over() returns trigger language plpgsql as $$ begin
    update offshoot.run_facts set status = 'ended', ending = new.ending,
      ended_at_ms = new.ended_at_ms, turn_seq = null, turn_at_ms = null where run_id = new.id;
    update offshoot.spans set status = 'cut', ended_at_ms = new.ended_at_ms
      where run_id = new.id and ended_at_ms is null;
    update offshoot.questions set closed_at_ms = new.ended_at_ms
      where run_id = new.id and closed_at_ms is null;
    return null;
  end $$;
  create trigger facts_over after update of status on offshoot.runs
    for each row when (new.status = 'ended') execute function offshoot.facts_over();

  -- Numbers stay, words go: the label of a subagent is its model's word, and it is in the id of its run.
  create function offshoot.usage_of_deleted() returns trigger language plpgsql as $$ begin
    update offshoot.usage set label = old.agent, run_id = case when run_id = root_id then run_id
        else root_id || '/' || md5(run_id) end
      where run_id = old.run_id;
    return null;
  end $$;
  create trigger usage_of_deleted after delete on offshoot.run_facts
    for each row execute function offshoot.usage_of_deleted();

  -- What one model call used. 'ms' is null for as long as the open model call took.
  create function offshoot.note_usage(f offshoot.run_facts, n json, kind text, seq bigint, ms bigint)
  returns void language sql as $$
    insert into offshoot.usage (run_id, seq, root_id, tenant, key_id, model, label, kind, turn, day,
        at_ms, ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
      values (f.run_id, seq, f.root_id, f.tenant, f.key_id, coalesce(n ->> 'model', f.model),
        coalesce(f.label, f.agent), kind, (n ->> 'turn')::bigint, n ->> 'day',
        (n ->> 'at_ms')::bigint,
        coalesce(ms, greatest(0, (n ->> 'at_ms')::bigint - f.turn_at_ms), 0),
        (n ->> 'input_tokens')::bigint, (n ->> 'cached_tokens')::bigint,
        (n ->> 'output_tokens')::bigint, (n ->> 'reasoning_tokens')::bigint,
        (n ->> 'usd')::double precision)
      on conflict do nothing;
  $$;
  -- What calls that broke off used: the ending of the run counts them.
  create function offshoot.note_rest(f offshoot.run_facts, n json) returns void language sql as $$
    insert into offshoot.usage (run_id, seq, root_id, tenant, key_id, model, label, kind, turn, day,
        at_ms, ms, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usd)
      select f.run_id, (n ->> 'seq')::bigint, f.root_id, f.tenant, f.key_id, f.model,
        coalesce(f.label, f.agent), 'cut', null, n ->> 'day', (n ->> 'at_ms')::bigint, 0,
        greatest(0, (n ->> 'input_tokens')::bigint - u.input),
        greatest(0, (n ->> 'cached_tokens')::bigint - u.cached),
        greatest(0, (n ->> 'output_tokens')::bigint - u.output),
        greatest(0, (n ->> 'reasoning_tokens')::bigint - u.reasoning),
        case when n ->> 'usd' is null then null
          else greatest(0, (n ->> 'usd')::double precision - u.usd) end
      from (select coalesce(sum(input_tokens), 0) as input, coalesce(sum(cached_tokens), 0) as cached,
          coalesce(sum(output_tokens), 0) as output,
          coalesce(sum(reasoning_tokens), 0) as reasoning, coalesce(sum(usd), 0) as usd
        from offshoot.usage where run_id = f.run_id) u
      where (n ->> 'input_tokens')::bigint + (n ->> 'output_tokens')::bigint > u.input + u.output
      on conflict do nothing;
  $$;
  create function offshoot.note(of_run text, notes json) returns boolean language plpgsql as $$
  declare
    n json;
    f offshoot.run_facts;
    what text;
    at bigint;
    open_seq bigint;
  begin
    for n in select value from json_array_elements(notes) loop
      select * into f from offshoot.run_facts where run_id = of_run;
      if not found then return true; end if;
      what := n ->> 'note';
      at := (n ->> 'at_ms')::bigint;
      if what in ('turn', 'compaction') then
        update offshoot.spans set status = 'cut', ended_at_ms = at
          where run_id = of_run and seq = f.turn_seq and ended_at_ms is null;
      end if;
      if what in ('turn', 'compaction', 'call', 'child') then
        insert into offshoot.spans (run_id, seq, root_id, kind, turn, name, key, under, day, started_at_ms)
          values (of_run, (n ->> 'seq')::bigint, f.root_id, what, (n ->> 'turn')::bigint, n ->> 'name',
            n ->> 'key', n ->> 'under', to_char(to_timestamp(at / 1000.0) at time zone 'UTC', 'YYYY-MM-DD'), at)
          on conflict do nothing;
      end if;
      if what = 'turn' then
        update offshoot.run_facts set turns = greatest(turns, (n ->> 'turn')::bigint),
          turn_seq = (n ->> 'seq')::bigint, turn_at_ms = at where run_id = of_run;
      elsif what = 'turn_end' then
        perform offshoot.note_usage(f, n, 'turn', coalesce(f.turn_seq, (n ->> 'seq')::bigint), null);
        update offshoot.spans set status = 'ok', ended_at_ms = at
          where run_id = of_run and seq = f.turn_seq;
        update offshoot.run_facts set turn_seq = null, turn_at_ms = null where run_id = of_run;
      elsif what = 'compaction' then
        update offshoot.spans set status = 'ok', ended_at_ms = at
          where run_id = of_run and seq = (n ->> 'seq')::bigint;
        update offshoot.run_facts set turn_seq = null, turn_at_ms = null where run_id = of_run;
        perform offshoot.note_usage(f, n, 'compaction', (n ->> 'seq')::bigint, 0);
      elsif what = 'call' then
        update offshoot.run_facts set calls = calls + 1 where run_id = of_run;
      elsif what in ('decision', 'call_end') then
        select min(seq) into open_seq from offshoot.spans where run_id = of_run
          and ended_at_ms is null and kind = 'call' and key = n ->> 'key' and name = n ->> 'name';
        if what = 'decision' then
          update offshoot.spans set decided_by = n ->> 'by',
            status = case when n ->> 'verdict' = 'deny' then 'denied' else status end
            where run_id = of_run and seq = open_seq;
          update offshoot.questions set closed_at_ms = at, verdict = n ->> 'verdict',
            reason = n ->> 'reason' where run_id = of_run and question = n ->> 'question';
        else
          update offshoot.spans set ended_at_ms = at, status = case when status = 'denied' then status
            when (n ->> 'failed')::boolean then 'failed' else 'ok' end
            where run_id = of_run and seq = open_seq;
        end if;
      elsif what = 'question' then
        insert into offshoot.questions (run_id, question, seq, root_id, tenant, at_ms, until_ms, body)
          values (of_run, n ->> 'question', (n ->> 'seq')::bigint, f.root_id, f.tenant, at,
            (n ->> 'until_ms')::bigint, n ->> 'body')
          on conflict (run_id, question) do update set seq = excluded.seq, at_ms = excluded.at_ms,
            until_ms = excluded.until_ms, body = excluded.body, closed_at_ms = null, verdict = null,
            reason = null;
      elsif what = 'child_end' then
        update offshoot.spans set ended_at_ms = at,
          status = case when (n ->> 'failed')::boolean then 'failed' else 'ok' end
          where run_id = of_run and kind = 'child' and key = n ->> 'key' and ended_at_ms is null;
      elsif what = 'resume' then
        update offshoot.run_facts set turn_seq = null, turn_at_ms = null, calls = calls - (
            select count(*) from offshoot.spans
              where run_id = of_run and kind = 'call' and ended_at_ms is null)
          where run_id = of_run;
        update offshoot.spans set status = 'cut', ended_at_ms = at
          where run_id = of_run and ended_at_ms is null and kind <> 'child';
        update offshoot.questions set closed_at_ms = at
          where run_id = of_run and closed_at_ms is null;
      elsif what = 'end' then
        update offshoot.run_facts set message = n ->> 'message' where run_id = of_run;
        perform offshoot.note_rest(f, n);
      end if;
    end loop;
    return true;
  end $$;
`;
