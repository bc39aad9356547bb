/**
 * Tool calls that wait for an answer of your program: from a web page, a chat, a queue. In a clone:
 * `node scripts/compile.js`, then `node build/examples/approval.js`. In a program of yours, import from "offshoot".
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createRuntime, type Question } from "../src/index.ts";
import { reply, script, startChatUpstream } from "../src/testing/index.ts";

/** Serves one open question at a time: `GET /` shows it, `POST /yes` and `POST /no` answer it. */
export async function openApprovalPage() {
  let open: { readonly question: Question; answer(word: "yes" | "no"): void } | undefined;
  const server = createServer((request, response) => {
    const word = request.url === "/yes" ? "yes" : "no";
    if (request.method === "POST") open?.answer(word);
    const shown = open ? { tool: open.question.tool, arguments: open.question.arguments } : null;
    response.setHeader("content-type", "application/json").end(JSON.stringify(shown));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The signal aborts when the run ends or somebody else has answered. */
    ask: (question: Question, signal: AbortSignal) =>
      new Promise<"yes" | "no">((resolve, reject) => {
        open = { question, answer: resolve };
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }).finally(() => {
        open = undefined;
      }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Runs an agent that wants to write a file, while `person` answers at the page. */
export async function runWithPage(root: string, person: (url: string) => Promise<void>): Promise<string> {
  const page = await openApprovalPage();
  const call = { name: "write", arguments: JSON.stringify({ path: "hello.txt", content: "Hello" }) };
  const upstream = await startChatUpstream({ engine: script(reply.calls([call]), reply.text("Written.")) });
  const runtime = await createRuntime({ ask: page.ask });
  try {
    const run = await runtime.run({
      ...{ model: "custom/any", url: upstream.url, input: "Write hello.txt", root, tools: ["write"] },
    });
    await person(page.url);
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
    await upstream.close();
    await page.close();
  }
}

/** Looks at the page until there is a question, and says yes. */
export async function sayYes(url: string): Promise<void> {
  while ((await (await fetch(url)).json()) === null) await new Promise((resolve) => setImmediate(resolve));
  await fetch(`${url}/yes`, { method: "POST" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await runWithPage(process.cwd(), sayYes));
}
