/** `offshoot models pull`: downloads a GGUF file, or lets Ollama download a model, and shows how far it is. */

import { systemClock } from "../../base/clock.ts";
import { Failure } from "../../base/failure.ts";
import { baseUrlOf } from "../../providers/vendors/base-url.ts";
import { createNetwork } from "../../runtime/network.ts";
import type { CommandCall } from "../command.ts";
import type { Io } from "../io.ts";
import { openConfig } from "../open-config.ts";
import { canRedraw, draw } from "../terminal.ts";

export async function pull(
  name: string | undefined,
  { options }: CommandCall,
  io: Io,
): Promise<number> {
  const [{ pullModel }, { PULL_TABLE }] = await Promise.all([
    import("../../providers/download/pull.ts"),
    import("../../providers/download/pull-table.ts"),
  ]);
  if (name?.startsWith("ollama/")) return pullFromOllama(name.slice("ollama/".length), io);
  if (!name) {
    const names = Object.keys(PULL_TABLE).join(", ");
    throw new Failure("invalid_request", `Which model? Give a URL, or one of: ${names}.`);
  }
  const config = await openConfig({}, io);
  const network = createNetwork(io.env);
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => abort.abort());
  const meter = createMeter(io);
  try {
    const pulled = await pullModel({
      target: name,
      directory: config.paths.modelsDir,
      sha256: typeof options["sha256"] === "string" ? options["sha256"] : undefined,
      transport: await network.open(),
      clock: systemClock,
      random: Math.random,
      signal: abort.signal,
      onProgress: meter.show,
      onRetry: (failure) => meter.say(failure.message),
    });
    meter.end();
    const checked = pulled.isVerified
      ? "checksum verified"
      : `not verified; sha256 ${pulled.sha256}`;
    await io.stderr.write(`${pulled.isOld ? "already here" : "done"} (${checked})\n`);
    await io.stdout.write(`${pulled.path}\n`);
    return 0;
  } finally {
    stopListening();
    await network.close();
  }
}

/** The server downloads and stores the model; it may be on another machine (`OLLAMA_HOST`). */
async function pullFromOllama(name: string, io: Io): Promise<number> {
  const { pullOllamaModel } = await import("../../providers/ollama/library.ts");
  const network = createNetwork(io.env);
  const abort = new AbortController();
  const stopListening = io.onInterrupt(() => abort.abort());
  const meter = createMeter(io);
  try {
    await pullOllamaModel({
      name,
      baseUrl: baseUrlOf("ollama", { url: undefined, env: io.env }),
      transport: await network.open(),
      clock: systemClock,
      signal: abort.signal,
      onProgress: meter.show,
    });
    meter.end();
    await io.stdout.write(`ollama/${name}\n`);
    return 0;
  } finally {
    stopListening();
    await network.close();
  }
}

/** A line that is overwritten on a terminal, and is not shown elsewhere. */
function createMeter({ stderr }: Io): {
  show(progress: { bytes: number; totalBytes: number | undefined; bytesPerSecond: number }): void;
  say(message: string): void;
  end(): void;
} {
  let isOpen = false;
  const end = (): void => {
    if (isOpen) void stderr.write("\n");
    isOpen = false;
  };
  return {
    show({ bytes, totalBytes, bytesPerSecond }) {
      if (!canRedraw(stderr)) return;
      isOpen = true;
      const share = totalBytes ? ` ${Math.floor((bytes / totalBytes) * 100)}%` : "";
      void draw(
        stderr,
        `\r\x1b[K${toMegabytes(bytes)} MB${share}, ${toMegabytes(bytesPerSecond)} MB/s`,
      );
    },
    say(message) {
      end();
      void stderr.write(`${message}\n`);
    },
    end,
  };
}

function toMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
