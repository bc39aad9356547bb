/** A dialog is the browser's own: it traps the focus, closes with Esc and gives the focus back. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Action } from "../core/act.ts";
import { Icon } from "./icon.tsx";
import { Said } from "./loaded.tsx";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Without it the dialog cannot be closed (the sign-in form). */
  readonly onClose?: () => void;
  readonly look?: "wide" | "palette-dialog";
}

export function Dialog({ title, children, onClose, look }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (!dialog?.open) dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={look ?? ""}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={(event) => {
        // The backdrop is the dialog element itself, outside of its content.
        if (event.target === element.current && look === "palette-dialog") onClose?.();
      }}
    >
      <header>
        <h2>{title}</h2>
        {onClose && (
          <button type="button" class="plain icon-only" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        )}
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly button: string;
  readonly action: Action;
  readonly children: ComponentChildren;
  onConfirm(): void;
  onClose(): void;
}

/** For an action that cannot be undone. */
export function Confirm({ title, button, action, children, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Said of={action} />
      <div class="row">
        <button type="button" class="danger" disabled={action.busy.value} onClick={onConfirm}>
          {button}
        </button>
        <button type="button" class="plain" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
