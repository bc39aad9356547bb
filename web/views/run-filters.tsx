/**
 * The filters of the list of runs. They are in the address, so a shared link shows the same list.
 */

import { useSignal } from "@preact/signals";
import { go, refine } from "../core/address.ts";
import { mayDo } from "../core/session.ts";
import { Icon } from "../parts/icon.tsx";
import type { Filters } from "./runs.tsx";

/** One choice: runs that have ended are selected by how, as in the API. */
const STATES = [
  ...["running", "waiting", "ended", "completed", "failed", "refused", "cancelled", "budget"],
  ...["timeout", "max_turns"],
];
/** The filters in the order of the form, with the text of an empty field. */
const FIELDS = [
  ["model", "any model"],
  ["agent", "any agent"],
  ["key", "any key"],
  ["session", "any session"],
  ["folder", "any folder"],
] as const;
const KINDS = ["agent", "response", "index"];

export function RunFilters({ filters }: { readonly filters: Filters }) {
  const isFiltered = Object.keys(filters).some((name) => name !== "search" && name !== "status");
  const more = useSignal(isFiltered);
  return (
    <search class="stack tight">
      <div class="filters">
        <input
          type="search"
          aria-label="Search titles and ids"
          placeholder="Search titles and ids"
          value={filters["search"] ?? ""}
          onChange={(event) => refine({ search: event.currentTarget.value })}
        />
        <Choice name="status" label="State" value={filters["status"]} words={STATES} />
        <button
          type="button"
          aria-expanded={more.value}
          onClick={() => {
            more.value = !more.value;
          }}
        >
          <Icon name="menu" /> Filters
        </button>
        {Object.keys(filters).length > 0 && (
          <button type="button" class="plain" onClick={() => go("runs", { replace: true })}>
            Clear
          </button>
        )}
      </div>
      {more.value && <MoreFilters filters={filters} />}
    </search>
  );
}

function MoreFilters({ filters }: { readonly filters: Filters }) {
  const fields = mayDo("admin") ? [...FIELDS, ["tenant", "any tenant"] as const] : FIELDS;
  return (
    <div class="filters">
      <Choice name="kind" label="Kind" value={filters["kind"]} words={KINDS} />
      {fields.map(([name, hint]) => (
        <input
          key={name}
          type="text"
          aria-label={name}
          placeholder={hint}
          value={filters[name] ?? ""}
          onChange={(event) => refine({ [name]: event.currentTarget.value })}
        />
      ))}
      {["from", "to"].map((name) => (
        <label key={name} class="check">
          {name}
          <input
            type="date"
            aria-label={`${name} day`}
            value={filters[name] ?? ""}
            onChange={(event) => refine({ [name]: event.currentTarget.value })}
          />
        </label>
      ))}
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly words: readonly string[];
}

export function Choice({ name, label, value = "", words }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => refine({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: any</option>
      {words.map((word) => (
        <option key={word} value={word}>
          {word.replaceAll("_", " ")}
        </option>
      ))}
    </select>
  );
}
