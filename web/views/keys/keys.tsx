/** Keys of the server: what each may do and has used. A new secret is shown once. */

import { useSignal } from "@preact/signals";
import { address, toHref } from "../../core/address.ts";
import { get } from "../../core/api.ts";
import { toAgo, toCount, toMoney } from "../../core/format.ts";
import { useResource } from "../../core/resource.ts";
import type { ListedKeyView, NewKeyView, RecordPage } from "../../core/views.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loaded, ViewHead } from "../../parts/loaded.tsx";
import { Budgets } from "./budgets.tsx";
import { KeyDialog, NewKeyDialog, SecretDialog } from "./key-dialogs.tsx";

const TABS = [
  ["keys", "Keys"],
  ["budgets", "Budgets"],
  ["sessions", "Console sessions"],
] as const;

export function KeysView() {
  const keys = useResource("keys", (stop) =>
    get<RecordPage<ListedKeyView>>("admin/keys", {}, stop),
  );
  const making = useSignal(false);
  const opened = useSignal<string | undefined>(undefined);
  const secret = useSignal<NewKeyView | undefined>(undefined);
  const { query } = address.value;
  const tab = query.get("tab") ?? "keys";
  const tenant = query.get("tenant") ?? "";
  const show = (made: NewKeyView): void => {
    secret.value = made;
    making.value = false;
    opened.value = undefined;
    keys.reload();
  };
  return (
    <div class="view">
      <ViewHead title="Keys" about="What clients of this server may do and spend.">
        <button
          type="button"
          class="main"
          onClick={() => {
            making.value = true;
          }}
        >
          <Icon name="plus" /> New key
        </button>
      </ViewHead>
      <nav class="tabs" aria-label="Keys and budgets">
        {TABS.map(([name, title]) => (
          <a
            key={name}
            href={toHref(name === "keys" ? "keys" : `keys?tab=${name}`)}
            aria-current={tab === name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <Loaded of={keys}>
        {({ data }) => {
          const own = data.filter((key) => tenant === "" || key.tenant === tenant);
          const open = (id: string): void => {
            opened.value = id;
          };
          const chosen = data.find(({ id }) => id === opened.value);
          return (
            <>
              <KeyTab name={tab} keys={own} open={open} />
              {chosen && (
                <KeyDialog
                  key={chosen.id}
                  of={chosen}
                  reload={() => keys.reload()}
                  onSecret={show}
                  onClose={() => {
                    opened.value = undefined;
                  }}
                />
              )}
            </>
          );
        }}
      </Loaded>
      {making.value && (
        <NewKeyDialog
          onMade={show}
          onClose={() => {
            making.value = false;
          }}
        />
      )}
      {secret.value && (
        <SecretDialog
          made={secret.value}
          onClose={() => {
            secret.value = undefined;
          }}
        />
      )}
    </div>
  );
}

interface KeyTabProps {
  readonly name: string;
  readonly keys: readonly ListedKeyView[];
  open(id: string): void;
}

function KeyTab({ name, keys, open }: KeyTabProps) {
  const newest = [...keys].reverse();
  if (name === "budgets")
    return <Budgets keys={newest.filter((key) => !key.session)} open={open} />;
  const shown = newest.filter((key) => Boolean(key.session) === (name === "sessions"));
  if (shown.length === 0) {
    return (
      <Empty
        title={name === "sessions" ? "No sessions of the console." : "No keys yet."}
        icon="key"
      >
        {name === "sessions" ? "" : "Make one for each client, with the scopes that it needs."}
      </Empty>
    );
  }
  return <KeyTable keys={shown} open={open} />;
}

const STATE_TONES: Readonly<Record<string, string>> = {
  active: "good",
  expired: "warn",
  revoked: "bad",
};

function KeyTable({ keys, open }: Omit<KeyTabProps, "name">) {
  return (
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>State</th>
            <th>Tenant</th>
            <th>Scopes</th>
            <th class="number">Requests</th>
            <th class="number">Tokens</th>
            <th class="number">Cost</th>
            <th class="number">Last used</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                <button type="button" class="link" onClick={() => open(key.id)}>
                  {key.name}
                </button>
                <br />
                <span class="mono quiet">{key.id}</span>
              </td>
              <td>
                <span class={`chip ${STATE_TONES[key.state]}`}>{key.state}</span>
              </td>
              <td>{key.tenant}</td>
              <td class="wide">
                <span class="row tight">
                  {key.scopes.map((scope) => (
                    <span key={scope} class="chip">
                      {scope}
                    </span>
                  ))}
                </span>
              </td>
              <td class="number">{toCount(key.used.requests)}</td>
              <td class="number">{toCount(key.used.tokens)}</td>
              <td class="number">{toMoney(key.used.usd)}</td>
              <td class="number">{toAgo(key.last_used_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
