/** Vector stores: their files, their progress, and a form for a new one. */

import { useSignal } from "@preact/signals";
import { useAction } from "../core/act.ts";
import { toHref } from "../core/address.ts";
import { get, post } from "../core/api.ts";
import { toBytes, toCount, toTime } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded, Said } from "../parts/loaded.tsx";

export interface Store {
  readonly id: string;
  readonly name: string | null;
  readonly usage_bytes: number;
  readonly created_at: number;
  readonly status: string;
  readonly file_counts: {
    readonly total: number;
    readonly completed: number;
    readonly in_progress: number;
    readonly failed: number;
  };
}

export function StoreList() {
  const stores = useResource("stores", (stop) =>
    get<{ data: readonly Store[] }>("vector_stores", { limit: 100, order: "desc" }, stop),
  );
  const name = useSignal("");
  const action = useAction();
  const create = (): Promise<boolean> =>
    action.run(async () => {
      await post("vector_stores", { name: name.value.trim() });
      name.value = "";
      stores.reload();
      return undefined;
    });
  return (
    <>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <input
          type="text"
          aria-label="Name of a new vector store"
          placeholder="Name of a new vector store"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <button type="submit" disabled={name.value.trim() === "" || action.busy.value}>
          <Icon name="plus" /> Create
        </button>
      </form>
      <Said of={action} />
      <Loaded of={stores}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No vector stores yet." icon="search">
              Create one, then add files to it: they can be searched here and by file_search.
            </Empty>
          ) : (
            <StoreTable data={data} />
          )
        }
      </Loaded>
    </>
  );
}

function StoreTable({ data }: { readonly data: readonly Store[] }) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>State</th>
            <th class="number">Files</th>
            <th class="number">Size</th>
            <th class="number">Made</th>
          </tr>
        </thead>
        <tbody>
          {data.map((store) => (
            <tr key={store.id}>
              <td class="wide">
                <a href={toHref(`files/${store.id}`)}>{store.name || store.id}</a>
              </td>
              <td>
                <StoreState store={store} />
              </td>
              <td class="number">{toCount(store.file_counts.total)}</td>
              <td class="number">{toBytes(store.usage_bytes)}</td>
              <td class="number">{toTime(store.created_at * 1000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function StoreState({ store: { file_counts } }: { readonly store: Store }) {
  const { failed, in_progress } = file_counts;
  if (in_progress > 0) return <span class="chip live">{in_progress} being read</span>;
  if (failed > 0) return <span class="chip bad">{failed} failed</span>;
  return <span class="chip good">ready</span>;
}
