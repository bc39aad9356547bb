/**
 * Tool calls that wait until a user answers on a web page. In a clone: `node scripts/compile.js`, then
 * `node build/examples/approval.js`, and open the address that it prints.
 */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createRuntime, type Question } from "offshoot";
import { reply, script, startChatUpstream } from "offshoot/testing";

interface OpenQuestion {
  readonly question: Question;
  answer(word: "yes" | "no"): void;
}

/** Shows the open question at `/`. The buttons post to `/yes` and `/no`. */
export async function openApprovalPage() {
  let open: OpenQuestion | undefined;
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      open?.answer(request.url === "/yes" ? "yes" : "no");
      return void response.writeHead(303, { location: "/" }).end();
    }
    showPage(response, open?.question);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Pass it to `createRuntime`. The signal aborts when the run ends or another program has answered. */
    ask: (question: Question, signal: AbortSignal) =>
      new Promise<"yes" | "no">((resolve, reject) => {
        open = { question, answer: resolve };
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }).finally(() => {
        open = undefined;
      }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The page reloads by itself until there is a question. */
function showPage(response: ServerResponse, question: Question | undefined): void {
  const body = question
    ? `<h1>Allow this call?</h1>
<pre>${escapeText(`${question.tool} ${question.arguments}`)}</pre>
<form method="post"><button formaction="/yes">Allow</button> <button formaction="/no">Deny</button></form>`
    : `<h1>Nothing to answer</h1><meta http-equiv="refresh" content="1">`;
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(`<!doctype html><html lang="en"><title>Approval</title>${body}</html>`);
}

/** A model chose this text: without escaping it could contain buttons of its own. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** Runs an agent that wants to write a file, while `person` answers on the page. */
export async function runWithPage(
  root: string,
  person: (url: string) => Promise<void>,
): Promise<string> {
  const page = await openApprovalPage();
  const call = {
    name: "write",
    arguments: JSON.stringify({ path: "hello.txt", content: "<Hello>" }),
  };
  const engine = script(reply.calls([call]), reply.text("The model has read the result."));
  const upstream = await startChatUpstream({ engine });
  const runtime = await createRuntime({ ask: page.ask });
  try {
    const run = await runtime.run({
      model: "custom/any",
      url: upstream.url,
      input: "Write hello.txt",
      root,
      tools: ["write"],
    });
    await person(page.url);
    return (await run.result()).output_text;
  } finally {
    await runtime.close();
    await upstream.close();
    await page.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const person = async (url: string): Promise<void> => console.log(`Answer at ${url}`);
  console.log(await runWithPage(process.cwd(), person));
}
