/**
 * The data of server-sent events of one answer, parsed. Returns true where the server said that it is done, and false
 * where the connection ended before that.
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
    // A connection that broke off has nothing to be given back.
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
