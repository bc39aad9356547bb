/** Rows of the table `things`, and what removes trees of them. Called inside a transaction. */

import type { Json } from "../../base/json.ts";
import type { NewThing, Thing, ThingName } from "../shelf.ts";
import { fromColumn, fromNullable, toColumn, toNullable } from "../text-column.ts";
import type { Queries } from "./postgres-database.ts";
import type { PostgresRow } from "./postgres-driver.ts";

export const NAMED = "tenant = $1 and kind = $2 and id = $3";

/** `union` takes each thing once, so that a loop of parents ends. Bytes are removed by their foreign key. */
export const DELETE_THING = `with recursive doomed (position, id) as (
    select position, id from offshoot.things
    where ${NAMED} and ($4::bigint is null or expires_at_ms <= $4)
    union
    select below.position, below.id from doomed
    join offshoot.things as below on below.tenant = $1 and below.parent = doomed.id)
  delete from offshoot.things where position in (select position from doomed)`;

/** A run and all below it, by the same rules. */
export const DELETE_TREE = `with recursive tree (id) as (
    select $1::text collate "C"
    union
    select runs.id from tree join offshoot.runs on runs.parent_id = tree.id)
  delete from offshoot.runs where id in (select id from tree)`;

/**
 * Stores the things that do not exist yet; returns how many did not. Numbers are given out before a transaction ends:
 * a transaction that adds to the same parent waits for those before it, so that the order of the numbers is the order
 * in which others see them. Locks are taken in one order, so that two transactions cannot wait for each other.
 */
export async function insertThings(tx: Queries, things: readonly NewThing[]): Promise<number> {
  const parents = things.map(({ tenant, parent }) => ({ tenant, id: parent }));
  await lockParents(tx, parents);
  let inserted = 0;
  for (const thing of things) {
    const { parent, body, created_at_ms, expires_at_ms } = thing;
    const rest = [toNullable(parent), JSON.stringify(body), created_at_ms, expires_at_ms];
    inserted += await tx.run(INSERT_THING, ...toNameColumns(thing), ...rest);
  }
  return inserted;
}

/**
 * Waits for the transactions that add to these or delete them. A deletion finds what belongs to a thing when its
 * statement begins: what another transaction adds meanwhile would stay.
 */
export async function lockParents(
  tx: Queries,
  parents: readonly { readonly tenant: string; readonly id: string | null }[],
): Promise<void> {
  const names = parents.flatMap(({ tenant, id }) => (id === null ? [] : [`${tenant}\n${id}`]));
  for (const name of [...new Set(names)].sort()) {
    const sql = "select pg_advisory_xact_lock(hashtextextended('thing ' || $1, 0))";
    await tx.get(sql, toColumn(name));
  }
}

const INSERT_THING = `insert into offshoot.things
  (tenant, kind, id, parent, body, created_at_ms, expires_at_ms)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`;

export function toNameColumns({ tenant, kind, id }: ThingName): string[] {
  return [tenant, kind, id].map(toColumn);
}

export function toName(row: PostgresRow): ThingName {
  const [tenant, kind, id] = [row["tenant"], row["kind"], row["id"]].map(fromColumn);
  return { tenant: tenant ?? "", kind: kind ?? "", id: id ?? "" };
}

export function toThing(row: PostgresRow): Thing {
  return {
    ...toName(row),
    parent: fromNullable(row["parent"]),
    body: JSON.parse(String(row["body"])) as Json,
    created_at_ms: Number(row["created_at_ms"]),
    expires_at_ms: row["expires_at_ms"] as number | null,
    position: Number(row["position"]),
  };
}
