/** Files that clients uploaded, and vector stores that are searched. */

import { useSignal } from "@preact/signals";
import { useAction } from "../core/act.ts";
import { address, toHref } from "../core/address.ts";
import { download, get, remove, upload } from "../core/api.ts";
import { toBytes, toExactTime, toTime } from "../core/format.ts";
import { useResource } from "../core/resource.ts";
import { mayDo } from "../core/session.ts";
import type { ViewProps } from "../core/view-props.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded, Said, ViewHead } from "../parts/loaded.tsx";
import { StoreView } from "./vector-store.tsx";
import { StoreList } from "./vector-stores.tsx";

export interface FileView {
  readonly id: string;
  readonly filename: string;
  readonly bytes: number;
  readonly created_at: number;
  readonly purpose: string;
}

export function FilesView({ rest }: ViewProps) {
  const [store] = rest;
  if (store) return <StoreView key={store} id={store} />;
  const tab = address.value.query.get("tab") ?? "files";
  return (
    <div class="view">
      <ViewHead title="Files" about="Files stored for this tenant, and searched by file_search." />
      <nav class="tabs" aria-label="Files and vector stores">
        <a href={toHref("files")} aria-current={tab === "files" ? "page" : undefined}>
          Files
        </a>
        <a href={toHref("files?tab=stores")} aria-current={tab === "stores" ? "page" : undefined}>
          Vector stores
        </a>
      </nav>
      {tab === "stores" ? <StoreList /> : <FileList />}
    </div>
  );
}

function FileList() {
  const files = useResource("files", (stop) =>
    get<{ data: readonly FileView[] }>("files", { limit: 100, order: "desc" }, stop),
  );
  const action = useAction();
  const send = (list: FileList | null): Promise<boolean> =>
    action.run(async () => {
      const chosen = [...(list ?? [])];
      for (const file of chosen) await upload("files", file, { purpose: "assistants" });
      files.reload();
      return `Uploaded ${chosen.map(({ name }) => name).join(", ")}.`;
    });
  return (
    <>
      <div class="row">
        <label class="button">
          <Icon name="plus" /> Upload
          <input
            type="file"
            multiple
            class="hidden-text"
            onChange={(event) => void send(event.currentTarget.files)}
          />
        </label>
        {action.busy.value && <span class="quiet">Uploading…</span>}
      </div>
      <Said of={action} />
      <Loaded of={files}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No files yet." icon="folder">
              Upload one, and add it to a vector store to search it.
            </Empty>
          ) : (
            <FileTable data={data} reload={() => files.reload()} />
          )
        }
      </Loaded>
    </>
  );
}

interface FileTableProps {
  readonly data: readonly FileView[];
  readonly reload: () => void;
}

function FileTable({ data, reload }: FileTableProps) {
  const doomed = useSignal<FileView | undefined>(undefined);
  const action = useAction();
  const save = (file: FileView): Promise<boolean> =>
    action.run(async () => {
      await download(`files/${file.id}/content`, file.filename);
      return undefined;
    });
  return (
    <>
      <div class="table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>Purpose</th>
              <th>Id</th>
              <th class="number">Size</th>
              <th class="number">Uploaded</th>
              <th>
                <span class="hidden-text">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.map((file) => (
              <tr key={file.id}>
                <td class="wide">{file.filename}</td>
                <td class="quiet">{file.purpose}</td>
                <td class="mono quiet">{file.id}</td>
                <td class="number">{toBytes(file.bytes)}</td>
                <td class="number" title={toExactTime(file.created_at * 1000)}>
                  {toTime(file.created_at * 1000)}
                </td>
                <td class="number">
                  <button
                    type="button"
                    class="plain small icon-only"
                    aria-label={`Download ${file.filename}`}
                    onClick={() => void save(file)}
                  >
                    <Icon name="download" small />
                  </button>
                  <button
                    type="button"
                    class="plain small icon-only"
                    aria-label={`Delete ${file.filename}`}
                    onClick={() => {
                      doomed.value = file;
                    }}
                  >
                    <Icon name="close" small />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!doomed.value && <Said of={action} />}
      {doomed.value && mayDo("files") && (
        <DeleteFile
          file={doomed.value}
          done={() => {
            doomed.value = undefined;
            reload();
          }}
          onClose={() => {
            doomed.value = undefined;
          }}
        />
      )}
    </>
  );
}

interface DeleteProps {
  readonly file: FileView;
  done(): void;
  onClose(): void;
}

function DeleteFile({ file, done, onClose }: DeleteProps) {
  const action = useAction();
  return (
    <Confirm
      title={`Delete ${file.filename}?`}
      button="Delete it"
      action={action}
      onClose={onClose}
      onConfirm={() =>
        void action
          .run(async () => {
            await remove(`files/${file.id}`);
            return undefined;
          })
          .then((isDone) => isDone && done())
      }
    >
      It is taken out of every vector store, too. This cannot be undone.
    </Confirm>
  );
}
