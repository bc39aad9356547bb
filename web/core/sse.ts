/**
 * Parses the server-sent events of one answer. Returns true if the server said that the stream is complete, and false
 * if the connection ended before that.
 */
export async function* readEvents(response: Response): AsyncGenerator<unknown, boolean> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return false;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const data = toData(frame);
        if (data === "[DONE]") return true;
        if (data !== "") yield JSON.parse(data);
      }
    }
  } finally {
    // A broken connection has nothing to release.
    await reader?.cancel().catch(() => {});
  }
}

function toData(frame: string): string {
  return frame
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line[5] === " " ? 6 : 5))
    .join("\n");
}
