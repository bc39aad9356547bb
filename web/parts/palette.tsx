/** The command palette (Ctrl-K or ⌘K): every view and action by a few letters; an id goes to its run. */

import { useSignal } from "@preact/signals";
import { go } from "../core/address.ts";
import { Dialog } from "./dialog.tsx";

export interface Command {
  readonly name: string;
  readonly keys?: string;
  run(): void;
}

export function Palette({
  commands,
  onClose,
}: {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}) {
  const text = useSignal("");
  const at = useSignal(0);
  const found = findCommands(commands, text.value.trim());
  const choose = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at.value}`}
        aria-label="A view, an action, or the id of a run"
        placeholder="A view, an action, or the id of a run"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") at.value = Math.min(found.length - 1, at.value + 1);
          else if (event.key === "ArrowUp") at.value = Math.max(0, at.value - 1);
          else if (event.key === "Enter") choose(found[at.value]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found" class="palette">
        {found.map((command, index) => (
          <li
            key={command.name}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at.value}
            onClick={() => choose(command)}
          >
            {command.name} {command.keys && <kbd>{command.keys}</kbd>}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function findCommands(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const found = commands.filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  if (!/^(run|resp)_\w+/.test(text)) return found;
  return [{ name: `Open ${text}`, run: () => go(`runs/${encodeURIComponent(text)}`) }, ...found];
}
