/** The audit log of servers that must not write to disk; keeps the last entries. */

import {
  type Audit,
  type AuditQuery,
  MAX_ENTRIES,
  type StoredAuditEntry,
  type TimeRange,
} from "../audit.ts";

export function createMemoryAudit(): Audit {
  let entries: StoredAuditEntry[] = [];
  let id = 0;
  return {
    write(entry) {
      entries.push({ ...entry, id: ++id });
      if (entries.length > MAX_ENTRIES) entries.shift();
    },
    async list(query) {
      const asked = entries.filter((entry) => isAsked(entry, query));
      return asked.slice(Math.max(asked.length - query.limit, 0)).reverse();
    },
    async prune(beforeMs) {
      entries = entries.filter(({ at_ms }) => at_ms >= beforeMs);
    },
    async close() {},
  };
}

function isAsked(entry: StoredAuditEntry, query: AuditQuery): boolean {
  const { before = Number.POSITIVE_INFINITY, keyId, tenant, time, action, status } = query;
  return (
    entry.id < before &&
    (keyId === undefined || entry.key_id === keyId) &&
    (tenant === undefined || entry.tenant === tenant) &&
    isWithin(entry.at_ms, time) &&
    (action === undefined || entry.action.includes(action)) &&
    isWithin(entry.status, status)
  );
}

function isWithin(value: number, range: TimeRange | undefined): boolean {
  return range === undefined || (value >= range[0] && value < range[1]);
}
