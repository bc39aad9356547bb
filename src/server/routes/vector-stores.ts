/** Routes of vector stores: the stores, their files, their batches, and search. */

import { readOnce, toOnceKey } from "../../responses/tenant/idempotency.ts";
import {
  type BatchOf,
  cancelBatch,
  createBatch,
  getBatch,
  listBatchFiles,
} from "../../responses/vector-stores/batches.ts";
import type { FileIndexParts } from "../../responses/vector-stores/kept-store.ts";
import { searchStore } from "../../responses/vector-stores/search.ts";
import {
  createStoreFile,
  deleteStoreFile,
  type FileOf,
  getStoreFile,
  listStoreFiles,
  readStoreFileContent,
  updateStoreFile,
} from "../../responses/vector-stores/store-files.ts";
import {
  createStore,
  deleteStore,
  getStore,
  listStores,
  updateStore,
} from "../../responses/vector-stores/stores.ts";
import { type Route, type RouteAnswer, type RouteCall, readOptional, toJson } from "../route.ts";

export interface VectorRouteParts extends FileIndexParts {
  /** The server's own secret. */
  readonly sealKey: Uint8Array;
}

export function createVectorStoreRoutes(parts: VectorRouteParts): Route[] {
  return [...toStoreRoutes(parts), ...toFileRoutes(parts), ...toBatchRoutes(parts)];
}

const STORES = "/v1/vector_stores";
const STORE = `${STORES}/:id`;

type Do = (call: RouteCall, tenant: string) => Promise<object>;

function row(method: Route["method"], path: string, summary: string, run: Do): Route {
  const handle = async (call: RouteCall): Promise<RouteAnswer> =>
    toJson(await run(call, call.caller.tenant));
  return { method, path, summary, scope: "files", handle };
}

/** The key of the request pays for indexing and searching. */
function paidBy(parts: VectorRouteParts, { caller }: RouteCall): VectorRouteParts {
  return { ...parts, keyId: caller.keyId };
}

function toStoreRoutes(parts: VectorRouteParts): Route[] {
  return [
    row("POST", STORES, "Create a vector store, with files or empty", async (call, tenant) => {
      const body = await readOptional(call);
      const once = readOnce(call.request.headers, `POST ${STORES}`, body);
      const key = once && (await toOnceKey(once, tenant, parts.sealKey));
      return createStore(paidBy(parts, call), tenant, body, key);
    }),
    row("GET", STORES, "List vector stores", ({ query }, tenant) =>
      listStores(parts, tenant, query),
    ),
    row("GET", STORE, "Show a vector store", (call, tenant) => getStore(parts, tenant, idOf(call))),
    row("POST", STORE, "Change a vector store's name, expiry or metadata", async (call, tenant) =>
      updateStore(parts, tenant, idOf(call), await call.json()),
    ),
    row("DELETE", STORE, "Delete a vector store; its files stay", (call, tenant) =>
      deleteStore(parts, tenant, idOf(call)),
    ),
    row("POST", `${STORE}/search`, "Search a vector store", async (call, tenant) => {
      const asked = { store: idOf(call), body: await call.json() };
      return searchStore(paidBy(parts, call), tenant, asked, call.signal);
    }),
  ];
}

function toFileRoutes(parts: VectorRouteParts): Route[] {
  const files = `${STORE}/files`;
  const file = `${files}/:file_id`;
  return [
    row("POST", files, "Add a file to a vector store", async (call, tenant) =>
      createStoreFile(paidBy(parts, call), tenant, idOf(call), await call.json()),
    ),
    row("GET", files, "List the files of a vector store", (call, tenant) =>
      listStoreFiles(parts, tenant, { store: idOf(call) }, call.query),
    ),
    row("GET", file, "Show a file of a vector store", (call, tenant) =>
      getStoreFile(parts, tenant, toFile(call)),
    ),
    row("POST", file, "Replace the attributes of a file of a vector store", async (call, tenant) =>
      updateStoreFile(parts, tenant, toFile(call), await call.json()),
    ),
    row("DELETE", file, "Remove a file from a vector store", (call, tenant) =>
      deleteStoreFile(parts, tenant, toFile(call)),
    ),
    row("GET", `${file}/content`, "Show the text that was read from a file", (call, tenant) =>
      readStoreFileContent(parts, tenant, toFile(call)),
    ),
  ];
}

function toBatchRoutes(parts: VectorRouteParts): Route[] {
  const batches = `${STORE}/file_batches`;
  const batch = `${batches}/:batch_id`;
  return [
    row("POST", batches, "Add many files to a vector store", async (call, tenant) =>
      createBatch(paidBy(parts, call), tenant, idOf(call), await call.json()),
    ),
    row("GET", batch, "Show the progress of a batch", (call, tenant) =>
      getBatch(parts, tenant, toBatch(call)),
    ),
    row("POST", `${batch}/cancel`, "Stop adding the files of a batch", (call, tenant) =>
      cancelBatch(parts, tenant, toBatch(call)),
    ),
    row("GET", `${batch}/files`, "List the files of a batch", (call, tenant) =>
      listBatchFiles(parts, tenant, toBatch(call), call.query),
    ),
  ];
}

function idOf({ params }: RouteCall): string {
  return params["id"] ?? "";
}

function toFile(call: RouteCall): FileOf {
  return { store: idOf(call), file: call.params["file_id"] ?? "" };
}

function toBatch(call: RouteCall): BatchOf {
  return { store: idOf(call), batch: call.params["batch_id"] ?? "" };
}
