/** The command palette (Ctrl-K or ⌘K): every view and action by a few letters, and runs by words of their titles. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go } from "../core/address.ts";
import { get } from "../core/api.ts";
import { clip } from "../core/format.ts";
import { mayDo } from "../core/session.ts";
import type { RecordPage, RunView } from "../core/views.ts";
import { Dialog } from "./dialog.tsx";
import { Icon, type IconName } from "./icon.tsx";

export interface Command {
  readonly name: string;
  readonly icon: IconName;
  readonly keys?: string;
  run(): void;
}

/** The server is not asked for each typed letter. */
const PAUSE_MS = 150;
const MOST_RUNS = 6;

export function Palette({
  commands,
  onClose,
}: {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}) {
  const text = useSignal("");
  const at = useSignal(0);
  const runs = useFoundRuns(text.value.trim());
  const found = [...findCommands(commands, text.value.trim()), ...runs];
  const choose = (command: Command | undefined): void => {
    if (!command) return;
    onClose();
    command.run();
  };
  useEffect(() => {
    document.getElementById(`palette-${at.value}`)?.scrollIntoView({ block: "nearest" });
  }, [at.value]);
  return (
    <Dialog title="Go to" look="palette-dialog" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${at.value}` : undefined}
        aria-label="A view, an action, or words of a run"
        placeholder="A view, an action, or words of a run"
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
            <Icon name={command.icon} />
            <span class="clip">{command.name}</span>
            {command.keys && <kbd>{command.keys}</kbd>}
          </li>
        ))}
        {found.length === 0 && (
          <li role="option" tabIndex={-1} aria-selected="false" aria-disabled="true">
            Nothing is called that.
          </li>
        )}
      </ul>
    </Dialog>
  );
}

function findCommands(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/);
  return commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

/** Runs by title and id, as the list of runs finds them. */
function useFoundRuns(text: string): readonly Command[] {
  const runs = useSignal<readonly RunView[]>([]);
  useEffect(() => {
    runs.value = [];
    if (text.length < 2 || !mayDo("runs")) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<RecordPage<RunView>>("runs", { search: text, limit: MOST_RUNS }, stop.signal).then(
        ({ data }) => {
          runs.value = data;
        },
        () => {},
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, runs]);
  return runs.value.map(({ id, title }) => ({
    name: `${clip(title || "run", 70)} (${id.slice(-6)})`,
    icon: "run",
    run: () => go(`runs/${encodeURIComponent(id)}`),
  }));
}
