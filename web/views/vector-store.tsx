/** One vector store: its files, and a box to search it as a model would. */

import { useSignal } from "@preact/signals";
import { useAction } from "../core/act.ts";
import { go, toHref } from "../core/address.ts";
import { get, post, remove, upload } from "../core/api.ts";
import { toBytes, toCount } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded, Said, Section } from "../parts/loaded.tsx";
import type { FileView } from "./files.tsx";
import { type Store, StoreState } from "./vector-stores.tsx";

interface StoreFile {
  readonly id: string;
  readonly status: string;
  readonly usage_bytes: number;
  readonly last_error: { readonly message: string } | null;
}

/** Files are read by runs of their own: their progress is read while some are not finished. */
const REFRESH_MS = 1500;

export function StoreView({ id }: { readonly id: string }) {
  const isWorking = useSignal(true);
  const store = useResource(
    id,
    async (stop) => {
      const path = `vector_stores/${encodeURIComponent(id)}`;
      const [about, files, known] = await Promise.all([
        get<Store>(path, {}, stop),
        get<{ data: readonly StoreFile[] }>(`${path}/files`, { limit: 100 }, stop),
        // Files of a store have no names in this list.
        get<{ data: readonly FileView[] }>("files", { limit: 1000 }, stop),
      ]);
      isWorking.value = about.file_counts.in_progress > 0;
      const names = new Map(known.data.map(({ id: file, filename }) => [file, filename]));
      return { about, files: files.data, names };
    },
    { everyMs: isWorking.value ? REFRESH_MS : 0 },
  );
  return (
    <div class="view">
      <Loaded of={store}>
        {({ about, files, names }) => (
          <>
            <Head store={about} reload={() => store.reload()} />
            <Search id={id} />
            <Section title="Files in it">
              <Files files={files} names={names} />
            </Section>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Head({ store, reload }: { readonly store: Store; readonly reload: () => void }) {
  const deleting = useSignal(false);
  const action = useAction();
  const path = `vector_stores/${encodeURIComponent(store.id)}`;
  const add = (list: FileList | null): Promise<boolean> =>
    action.run(async () => {
      for (const file of list ?? []) {
        const { id } = await upload<FileView>("files", file, { purpose: "assistants" });
        await post(`${path}/files`, { file_id: id });
      }
      reload();
      return "Added. Files are read in the background.";
    });
  return (
    <>
      <header class="view-head">
        <div class="grow">
          <p class="crumbs">
            <a href={toHref("files")}>Files</a>
            <Icon name="chevron" small />
            <a href={toHref("files?tab=stores")}>Vector stores</a>
          </p>
          <h1>{store.name || store.id}</h1>
          <p class="row">
            <StoreState store={store} /> <code>{store.id}</code>
            <span>
              {toCount(store.file_counts.total)} files, {toBytes(store.usage_bytes)}
            </span>
          </p>
        </div>
        <div class="row">
          <label class="button">
            <Icon name="plus" /> Add files
            <input
              type="file"
              multiple
              class="hidden-text"
              onChange={(event) => void add(event.currentTarget.files)}
            />
          </label>
          <button
            type="button"
            class="danger"
            onClick={() => {
              deleting.value = true;
            }}
          >
            Delete
          </button>
        </div>
      </header>
      {!deleting.value && <Said of={action} />}
      {deleting.value && (
        <Confirm
          title={`Delete ${store.name || store.id}?`}
          button="Delete it"
          action={action}
          onClose={() => {
            deleting.value = false;
          }}
          onConfirm={() =>
            void action
              .run(async () => {
                await remove(path);
                return undefined;
              })
              .then((isDone) => isDone && go("files?tab=stores"))
          }
        >
          Its files stay; what was made of them to be searched goes.
        </Confirm>
      )}
    </>
  );
}

interface Found {
  readonly file_id: string;
  readonly filename: string;
  readonly score: number;
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

function Search({ id }: { readonly id: string }) {
  const query = useSignal("");
  const found = useSignal<readonly Found[] | undefined>(undefined);
  const action = useAction();
  const search = (): Promise<boolean> =>
    action.run(async () => {
      const path = `vector_stores/${encodeURIComponent(id)}/search`;
      const page = await post<{ data: readonly Found[] }>(path, { query: query.value });
      found.value = page.data;
      return undefined;
    });
  return (
    <Section title="Search">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (query.value.trim() !== "") void search();
        }}
      >
        <input
          type="search"
          aria-label="Search this store"
          placeholder="Search as a model would"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
          }}
        />
        <button
          type="submit"
          class="main"
          disabled={query.value.trim() === "" || action.busy.value}
        >
          Search
        </button>
      </form>
      <Said of={action} />
      {found.value?.length === 0 && <Empty title="Nothing was found." icon="search" />}
      {found.value?.map((one, at) => (
        <article key={at} class="panel">
          <header>
            <b>{one.filename}</b>
            <span class="chip">score {one.score.toFixed(2)}</span>
          </header>
          <div class="body">
            {one.content.map(({ text }, part) => (
              <pre key={part} class="plain said">
                {text}
              </pre>
            ))}
          </div>
        </article>
      ))}
    </Section>
  );
}

const TONES: Readonly<Record<string, string>> = {
  completed: "good",
  in_progress: "live",
  failed: "bad",
  cancelled: "warn",
};

interface FilesProps {
  readonly files: readonly StoreFile[];
  readonly names: ReadonlyMap<string, string>;
}

function Files({ files, names }: FilesProps) {
  if (files.length === 0) return <Empty title="This vector store is empty." icon="file" />;
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>State</th>
            <th class="number">Size</th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <tr key={file.id}>
              <td title={file.id}>{names.get(file.id) ?? <code>{file.id}</code>}</td>
              <td>
                <span class={`chip ${TONES[file.status] ?? ""}`}>
                  {file.status.replaceAll("_", " ")}
                </span>{" "}
                {file.last_error && <span class="bad">{file.last_error.message}</span>}
              </td>
              <td class="number">{toBytes(file.usage_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
