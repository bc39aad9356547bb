/** The box for a prompt, with the attached files. */

import { useSignal } from "@preact/signals";
import { toBytes } from "../../core/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { type Attached, change, problemOf, wish } from "./wish.ts";

/** Files are sent inside the request; larger ones belong in a vector store. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

interface PromptProps {
  readonly isBusy: boolean;
  ask(): void;
  stop(): void;
}

export function PromptBox({ isBusy, ask, stop }: PromptProps) {
  const said = useSignal("");
  const problem = problemOf(wish.value);
  const attach = async (list: FileList | null): Promise<void> => {
    said.value = "";
    for (const file of list ?? []) {
      if (file.size > MAX_FILE_BYTES) {
        said.value = `${file.name} has ${toBytes(file.size)}; ${toBytes(MAX_FILE_BYTES)} at most. Larger files belong in a vector store.`;
        continue;
      }
      const url = await readAsUrl(file);
      change({ files: [...wish.peek().files, { name: file.name, size: file.size, url }] });
    }
  };
  return (
    <form
      class="prompt"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        aria-label="Prompt"
        placeholder="Ask something. Ctrl-Enter sends."
        value={wish.value.prompt}
        onInput={(event) => change({ prompt: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isBusy) return;
          event.preventDefault();
          ask();
        }}
      />
      <div class="row spread">
        <div class="row">
          <label class="button attach">
            <Icon name="file" /> Attach
            <input
              type="file"
              multiple
              class="hidden-text"
              onChange={(event) => {
                void attach(event.currentTarget.files);
                event.currentTarget.value = "";
              }}
            />
          </label>
          {wish.value.files.map((file, at) => (
            <FileChip key={at} file={file} />
          ))}
        </div>
        {isBusy ? (
          <button type="button" class="danger" onClick={stop}>
            <Icon name="stop" small /> Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={problem !== ""} title={problem || undefined}>
            Send
          </button>
        )}
      </div>
      {(said.value || (problem !== "" && wish.value.prompt.trim() !== "")) && (
        <p class="notice bad" role="alert">
          {said.value || problem}
        </p>
      )}
    </form>
  );
}

function FileChip({ file }: { readonly file: Attached }) {
  return (
    <span class="chip">
      {file.name} ({toBytes(file.size)})
      <button
        type="button"
        class="link"
        aria-label={`Remove ${file.name}`}
        onClick={() => change({ files: wish.peek().files.filter((one) => one !== file) })}
      >
        <Icon name="close" small />
      </button>
    </span>
  );
}

function readAsUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
