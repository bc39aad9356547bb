/** Buttons that copy, and confirm it. */

import { useState } from "preact/hooks";
import { type CopiedRequest, LANGUAGES, toCode } from "../core/code-of.ts";
import { Icon } from "./icon.tsx";
import { Menu } from "./menu.tsx";

interface CopyProps {
  readonly text: string | (() => string);
  readonly label?: string;
  /** Shows only the sign: the label is for screen readers. */
  readonly brief?: boolean;
}

const SAID_MS = 1500;

export function CopyButton({ text, label = "Copy", brief = false }: CopyProps) {
  const [said, say] = useState("");
  const copy = (): void => {
    void writeText(typeof text === "string" ? text : text()).then((outcome) => {
      say(outcome);
      setTimeout(() => say(""), SAID_MS);
    });
  };
  return (
    <button
      type="button"
      class={brief ? "plain small icon-only" : "small"}
      aria-label={brief ? said || label : undefined}
      title={brief ? label : undefined}
      onClick={copy}
    >
      <Icon name={said === "Copied" ? "check" : "copy"} small />
      {!brief && (said || label)}
    </button>
  );
}

async function writeText(text: string): Promise<string> {
  return await navigator.clipboard.writeText(text).then(
    () => "Copied",
    () => "The browser refused",
  );
}

/** Copies a request as code for a shell, TypeScript and Python. */
export function CopyAs({ request }: { readonly request: () => CopiedRequest }) {
  const [said, say] = useState("");
  return (
    <Menu
      label="Copy as"
      entries={LANGUAGES.map((language) => ({
        name: language,
        run: () =>
          writeText(toCode(request(), language)).then((outcome) => {
            say(outcome);
            setTimeout(() => say(""), SAID_MS);
          }),
      }))}
    >
      <Icon name={said === "Copied" ? "check" : "copy"} />
      {said || "Copy as"}
    </Menu>
  );
}
