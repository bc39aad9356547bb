import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { createTransport } from "../../../src/providers/http/transport.ts";
import {
  createProbe,
  findLocalServer,
  type LocalVendor,
  originsIn,
} from "../../../src/providers/vendors/local-servers.ts";
import { PATIENCE_MS } from "../../patience.ts";

const servers: Server[] = [];
const transport = createTransport({});
const probe = createProbe(transport);

after(async () => {
  await transport.close();
  for (const server of servers) server.close().closeAllConnections();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that has only these paths. */
function serve(pages: Readonly<Record<string, unknown>>): Promise<string> {
  return listen((request, response) => {
    const page = pages[request.url ?? ""];
    response.statusCode = page === undefined ? 404 : 200;
    response.end(typeof page === "string" ? page : JSON.stringify(page ?? { error: "no" }));
  });
}

const NOTHING = await serve({});
const OLLAMA = {
  "/api/tags": { models: [{ name: "nomic-embed-text:latest" }, { name: "qwen3:8b" }] },
};
const LLAMACPP = {
  "/health": { status: "ok" },
  "/v1/models": { object: "list", data: [{ id: "qwen.gguf", owned_by: "llamacpp" }] },
};
const LMSTUDIO = {
  "/v1/models": { object: "list", data: [{ id: "qwen/qwen3-4b", object: "model" }] },
};

const VLLM = {
  "/v1/models": { object: "list", data: [{ id: "qwen/qwen3-32b", owned_by: "vllm" }] },
};

function find(origins: Partial<Record<LocalVendor, string>>, namedLimitMs = PATIENCE_MS) {
  const nowhere = { ollama: NOTHING, llamacpp: NOTHING, lmstudio: NOTHING, vllm: NOTHING };
  return findLocalServer({ probe, namedLimitMs, origins: { ...nowhere, ...origins } });
}

describe("findLocalServer", () => {
  it("finds Ollama's newest model that can chat", async () => {
    const ollama = await serve(OLLAMA);
    assert.deepEqual(await find({ ollama }), {
      vendor: "ollama",
      model: "qwen3:8b",
      baseUrl: `${ollama}/v1`,
    });
  });

  it("finds llama.cpp and LM Studio", async () => {
    assert.equal((await find({ llamacpp: await serve(LLAMACPP) }))?.model, "qwen.gguf");
    assert.equal((await find({ lmstudio: await serve(LMSTUDIO) }))?.model, "qwen/qwen3-4b");
  });

  it("finds vLLM, and does not take another program on its port for it", async () => {
    assert.equal((await find({ vllm: await serve(VLLM) }))?.model, "qwen/qwen3-32b");
    assert.equal(await find({ vllm: await serve(LMSTUDIO) }), undefined);
  });

  it("uses them in order, and skips one without a model", async () => {
    const llamacpp = await serve(LLAMACPP);
    const lmstudio = await serve(LMSTUDIO);
    const ollama = await serve({ "/api/tags": { models: [] } });
    assert.equal((await find({ ollama, llamacpp, lmstudio }))?.vendor, "llamacpp");
    const full = await serve(OLLAMA);
    assert.equal((await find({ ollama: full, llamacpp, lmstudio }))?.vendor, "ollama");
  });

  const strangers = {
    "a web page": { "/health": "<html>ok</html>", "/v1/models": "<html></html>" },
    "another API server": {
      "/health": { status: "ok" },
      "/v1/models": { object: "list", data: [{ id: "x", owned_by: "vllm" }] },
    },
    "a llama.cpp that is loading": { ...LLAMACPP, "/health": { status: "loading model" } },
    "JSON of another shape": { "/health": ["ok"], "/v1/models": { data: "x" } },
  };
  for (const [name, pages] of Object.entries(strangers)) {
    it(`does not take ${name} for llama.cpp`, async () => {
      assert.equal(await find({ llamacpp: await serve(pages) }), undefined);
    });
  }

  it("finds nothing if nothing listens", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => closed.once("listening", resolve));
    const origin = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((resolve) => closed.close(resolve));
    assert.equal(await find({ ollama: origin, llamacpp: origin, lmstudio: origin }), undefined);
  });

  it("does not wait for a silent server", async () => {
    const silent = await listen(() => {});
    assert.equal(await find({ ollama: silent }, 50), undefined);
  });

  it("stops reading a page without end", async () => {
    const endless = await listen((_request, response) => {
      const more = (): void => {
        while (response.write(" ".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    });
    assert.equal(await find({ ollama: endless }), undefined);
  });
});

describe("originsIn", () => {
  it("reads Ollama's own variable in the forms that Ollama accepts", () => {
    const forms = {
      "box:8000": "http://box:8000",
      box: "http://box:11434",
      ":8000": "http://127.0.0.1:8000",
      "0.0.0.0": "http://127.0.0.1:11434",
      "https://box.example": "https://box.example",
    };
    for (const [written, origin] of Object.entries(forms)) {
      assert.deepEqual(originsIn({ OLLAMA_HOST: written }), { ollama: origin }, written);
    }
  });

  it("keeps the usual ports if nothing is set", () => {
    assert.deepEqual(originsIn({}), {});
    assert.deepEqual(originsIn({ OLLAMA_HOST: "" }), {});
  });

  it("rejects an invalid URL", () => {
    assert.throws(() => originsIn({ OLLAMA_HOST: "ftp://box" }), { code: "invalid_request" });
  });
});
