/** Making a key, changing one, and the one time that its secret is shown. */

import { useSignal } from "@preact/signals";
import { type Action, useAction } from "../../core/act.ts";
import { post, remove } from "../../core/api.ts";
import { toAgo } from "../../core/format.ts";
import type { ListedKeyView, NewKeyView } from "../../core/views.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Said } from "../../parts/loaded.tsx";
import { Facts } from "../run/facts.tsx";
import { KeyFields, type KeyForm, TextField, toChange, toForm } from "./key-form.tsx";

interface NewKeyProps {
  onMade(made: NewKeyView): void;
  onClose(): void;
}

export function NewKeyDialog({ onMade, onClose }: NewKeyProps) {
  const form = useSignal<KeyForm>(toForm(undefined));
  const name = useSignal("");
  const tenant = useSignal("");
  const action = useAction();
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const about = { name: name.value.trim(), tenant: tenant.value.trim() || undefined };
      onMade(await post<NewKeyView>("admin/keys", { ...about, ...toChange(form.value) }));
      return undefined;
    });
  return (
    <Dialog title="New key" onClose={onClose} look="wide">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <div class="form-grid">
          <TextField
            label="Name"
            value={name.value}
            hint="for example app"
            set={(value) => {
              name.value = value;
            }}
          />
          <TextField
            label="Tenant"
            value={tenant.value}
            hint="default"
            set={(value) => {
              tenant.value = value;
            }}
          />
        </div>
        <KeyFields form={form} noDays="never" />
        <Said of={action} />
        <div class="row">
          <button
            type="submit"
            class="main"
            disabled={name.value.trim() === "" || action.busy.value}
          >
            Create the key
          </button>
          <button type="button" class="plain" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Only this answer of the server has the secret. */
export function SecretDialog({
  made,
  onClose,
}: {
  readonly made: NewKeyView;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title={`The key ${made.name}`} onClose={onClose}>
      <p>Copy it now: it is shown this once, and kept nowhere but with who uses it.</p>
      <p class="secret">
        <code>{made.token}</code>
        <CopyButton text={made.token} />
      </p>
      <p class="quiet">
        Clients send it as <code>Authorization: Bearer …</code>, or read it from a variable of
        theirs.
      </p>
      <div class="row">
        <button type="button" class="main" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}

interface KeyProps {
  readonly of: ListedKeyView;
  reload(): void;
  onSecret(made: NewKeyView): void;
  onClose(): void;
}

export function KeyDialog({ of: key, reload, onSecret, onClose }: KeyProps) {
  const form = useSignal<KeyForm>(toForm(key));
  const action = useAction();
  const asking = useSignal<"rotate" | "revoke" | undefined>(undefined);
  const path = `admin/keys/${encodeURIComponent(key.id)}`;
  const isActive = key.state !== "revoked";
  const save = (): Promise<boolean> =>
    action.run(async () => {
      await post(path, toChange(form.value));
      reload();
      return "Saved. Running servers use it within two seconds.";
    });
  return (
    <Dialog title={key.name} onClose={onClose} look="wide">
      <Facts
        of={{
          State: key.state,
          Tenant: key.tenant,
          Made: toAgo(key.created_at_ms),
          "Last used": toAgo(key.last_used_ms),
          Expires: key.expires_at_ms === null ? "never" : toAgo(key.expires_at_ms),
          Id: key.id,
        }}
      />
      {key.old_secret_until_ms && (
        <p class="notice warn">
          The secret before the last rotation works until {toAgo(key.old_secret_until_ms)}.
        </p>
      )}
      {isActive ? (
        <KeyFields form={form} noDays="as it is" />
      ) : (
        <p class="quiet">It is revoked, which is for good.</p>
      )}
      <Said of={action} />
      {isActive && (
        <div class="row">
          <button
            type="button"
            class="main"
            disabled={action.busy.value}
            onClick={() => void save()}
          >
            Save
          </button>
          <button
            type="button"
            onClick={() => {
              asking.value = "rotate";
            }}
          >
            New secret
          </button>
          <button
            type="button"
            class="danger"
            onClick={() => {
              asking.value = "revoke";
            }}
          >
            Revoke
          </button>
        </div>
      )}
      {asking.value && (
        <Ask
          what={asking.value}
          path={path}
          name={key.name}
          onClose={() => {
            asking.value = undefined;
          }}
          onSecret={onSecret}
          onRevoked={() => {
            reload();
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}

interface AskProps {
  readonly what: "rotate" | "revoke";
  readonly path: string;
  readonly name: string;
  onClose(): void;
  onSecret(made: NewKeyView): void;
  onRevoked(): void;
}

function Ask({ what, path, name, onClose, onSecret, onRevoked }: AskProps) {
  const action: Action = useAction();
  const hours = useSignal("1");
  const run = async (): Promise<undefined> => {
    if (what === "rotate") {
      const keep_old_s = (Number(hours.value) || 0) * 3600;
      onSecret(await post<NewKeyView>(`${path}/rotate`, { keep_old_s }));
    } else {
      await remove(path);
      onRevoked();
    }
    return undefined;
  };
  return (
    <Confirm
      title={what === "rotate" ? `A new secret for ${name}?` : `Revoke ${name}?`}
      button={what === "rotate" ? "Make it" : "Revoke it"}
      action={action}
      onClose={onClose}
      onConfirm={() => void action.run(run)}
    >
      {what === "rotate" ? (
        <TextField
          label="Hours that the old secret still works"
          value={hours.value}
          set={(value) => {
            hours.value = value;
          }}
        />
      ) : (
        "Clients that use it are refused within two seconds. This cannot be undone."
      )}
    </Confirm>
  );
}
