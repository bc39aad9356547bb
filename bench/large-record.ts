/** A record of 100,000 runs, and one run (`run_big`) whose tree has 50,000 nodes. */

import { openConnection } from "../src/store/sqlite/sqlite-driver.ts";

const RUNS = 100_000;
export const NODES = 50_000;

/** Fills a new record. By SQL alone: a hundred thousand runs one by one would take minutes. */
export async function fillLargeRecord(file: string): Promise<void> {
  const connection = await openConnection(file);
  connection.exec(`begin;
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${RUNS})
    insert into runs (id, path, name, title, input, created_at_ms, status, ending, ended_at_ms)
      select printf('run_%05d', i), '/root', 'agent', 'Task ' || i || ' of a long list of work to do',
        '{"prompt":"' || hex(zeroblob(500)) || '"}', i * 100,
        iif(i % 997 = 0, 'running', 'ended'), iif(i % 997 = 0, null, iif(i % 10 = 0, 'failed', 'completed')), i * 100 + 50 from n;
    insert into run_facts (run_id, root_id, tenant, key_id, name, title, created_at_ms, status, ending,
        ended_at_ms, model, label, folder, turns, calls)
      select id, id, 'tenant-' || (rowid % 5), 'key-' || (rowid % 200), name, title, created_at_ms, status, ending,
        ended_at_ms, 'acme/model-' || (rowid % 20), null, '/srv/' || (rowid % 30), 3, 2 from runs;
    insert into usage select id, 0, id, 'tenant', null, 'acme/model', null, 'turn', 1, '2026-11-18', 0, 10, 100, 0, 20, 0, 0.1 from runs;
    insert into runs (id, path, name, title, created_at_ms) values ('run_big', '/root', 'agent', 'big', 1);
    insert into run_facts (run_id, root_id, tenant, name, title, created_at_ms)
      values ('run_big', 'run_big', 'default', 'agent', 'big', 1);
    with recursive n (i) as (select 0 union all select i + 1 from n where i < 499)
    insert into runs (id, parent_id, path, name, title, created_at_ms)
      select 'run_big/child-' || i, 'run_big', '/root/child', 'agent', 'child ' || i, i from n;
    insert into run_facts (run_id, root_id, parent_id, tenant, name, title, created_at_ms)
      select id, 'run_big', parent_id, 'default', name, title, created_at_ms from runs where parent_id = 'run_big';
    with recursive n (i) as (select 0 union all select i + 1 from n where i < 99)
    insert into spans (run_id, seq, root_id, kind, turn, name, key, day, started_at_ms, ended_at_ms, status)
      select id, i, 'run_big', iif(i % 2 = 0, 'turn', 'call'), i / 2 + 1, 'shell', 'c' || i, '2026-11-18', i, i + 1, 'ok'
      from runs, n where parent_id = 'run_big';
    commit;`);
  connection.close();
}
