/**
 * The form that covers the page until the person has signed in. A key is sent once, for a session.
 */

import { useSignal } from "@preact/signals";
import { signIn, signInReason } from "./core/session.ts";
import { Dialog } from "./parts/dialog.tsx";

export function SignIn() {
  const key = useSignal("");
  const busy = useSignal(false);
  return (
    <Dialog title="Sign in">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          busy.value = true;
          void signIn({ key: key.value.trim() }).finally(() => {
            busy.value = false;
          });
        }}
      >
        <p class="quiet">
          Paste a key of this server that has the scope <code>runs</code>, or run{" "}
          <code>offshoot ui</code> and use the link that it prints.
        </p>
        <label class="field">
          <span>Key</span>
          <input
            type="password"
            autocomplete="off"
            value={key.value}
            placeholder="osk_…"
            onInput={(event) => {
              key.value = event.currentTarget.value;
            }}
          />
        </label>
        {signInReason.value !== "" && (
          <p class="notice bad" role="alert">
            {signInReason.value}
          </p>
        )}
        <div class="row">
          <button type="submit" class="main" disabled={busy.value || key.value.trim() === ""}>
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  );
}
