/** The `openai` package with the built server: stored objects besides responses. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI, { toFile } from "openai";
import { reply, script } from "../../../src/testing/index.ts";
import { type ClientBench, KEY, serveEmbedded, serveScript, TIMEOUT } from "./client-fixture.ts";

const model = "scripted";

describe("the openai package, with the server's stored objects", () => {
  it("has a conversation that the server stores", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Noted."), reply.text("Blue.")));
    const client = openClient(bench);
    const { id: conversation } = await client.conversations.create({
      metadata: { topic: "colours" },
      items: [{ type: "message", role: "system", content: "Be short." }],
    });
    await client.responses.create({ model, conversation, input: "My colour is blue." });
    const answer = await client.responses.create({ model, conversation, input: "Which?" });
    assert.equal(answer.output_text, "Blue.");
    assert.equal(answer.conversation?.id, conversation);
    assert.deepEqual(
      bench.asked[1]?.messages.map(({ content }) => content),
      ["Be short.", "My colour is blue.", "Noted.", "Which?"],
    );
    const roles: string[] = [];
    for await (const item of client.conversations.items.list(conversation, {
      limit: 2,
      order: "asc",
    })) {
      assert.ok(item.type === "message");
      roles.push(item.role);
    }
    assert.deepEqual(roles, ["system", "user", "assistant", "user", "assistant"]);
  });

  it("changes a conversation and its items, and deletes them", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const { conversations } = openClient(bench);
    const { id } = await conversations.create({ metadata: { a: "1" } });
    const updated = await conversations.update(id, { metadata: { b: "2" } });
    assert.deepEqual(updated.metadata, { b: "2" });
    const added = await conversations.items.create(id, {
      items: [
        { type: "message", role: "user", content: "One" },
        { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "done" },
      ],
    });
    assert.deepEqual(
      added.data.map(({ type }) => type),
      ["message", "function_call", "function_call_output"],
    );
    const first = added.data[0]?.id ?? assert.fail();
    const read = await conversations.items.retrieve(first, { conversation_id: id });
    assert.ok(read.type === "message");
    assert.deepEqual(read.content, [{ type: "input_text", text: "One" }]);
    const left = await conversations.items.delete(first, { conversation_id: id });
    assert.equal(left.id, id);
    await assert.rejects(
      conversations.items.retrieve(first, { conversation_id: id }),
      OpenAI.NotFoundError,
    );
    assert.deepEqual((await conversations.retrieve(id)).metadata, { b: "2" });
    assert.deepEqual(await conversations.delete(id), {
      id,
      object: "conversation.deleted",
      deleted: true,
    });
    await assert.rejects(conversations.retrieve(id), OpenAI.NotFoundError);
  });

  it("the openai package lists the server's models", TIMEOUT, async () => {
    await using bench = await serveScript(script());
    const client = openClient(bench);
    const ids: string[] = [];
    for await (const one of client.models.list()) ids.push(one.id);
    assert.ok(ids.includes("custom/scripted"));
    const [id = ""] = ids;
    assert.equal((await client.models.retrieve(id)).id, id);
    await assert.rejects(client.models.retrieve("nobody/nothing"), OpenAI.NotFoundError);
  });

  it("uploads files, asks about them and deletes them", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("About tea.")));
    const client = openClient(bench);
    const text = "Tea is a drink.\n".repeat(50);
    const file = await client.files.create({
      purpose: "user_data",
      file: await toFile(Buffer.from(text), "tea.txt"),
    });
    assert.equal(file.filename, "tea.txt");
    assert.equal(file.bytes, Buffer.byteLength(text));
    assert.equal(await (await client.files.content(file.id)).text(), text);
    const listed: string[] = [];
    for await (const one of client.files.list({ purpose: "user_data" })) listed.push(one.id);
    assert.deepEqual(listed, [file.id]);
    const content = [
      { type: "input_file" as const, file_id: file.id },
      { type: "input_text" as const, text: "What is it about?" },
    ];
    const answer = await client.responses.create({ model, input: [{ role: "user", content }] });
    assert.equal(answer.output_text, "About tea.");
    assert.match(JSON.stringify(bench.asked[0]?.messages), /Tea is a drink|VGVhIGlzIGEgZHJpbms/);
    assert.equal((await client.files.delete(file.id)).deleted, true);
    await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
  });

  it("fills a vector store, searches it, and lets a model search it", TIMEOUT, async () => {
    await using bench = await serveScript(
      script(
        reply.calls([{ name: "file_search", arguments: { queries: ["harbour"] } }]),
        reply.text("At dawn."),
      ),
    );
    const client = openClient(bench);
    const store = await client.vectorStores.create({ name: "Ships" });
    const words = "The Aurora leaves the harbour at dawn. The Borealis stays.";
    const file = await toFile(Buffer.from(words), "ships.md");
    const added = await client.vectorStores.files.uploadAndPoll(store.id, file, {
      pollIntervalMs: 50,
    });
    assert.equal(added.status, "completed", JSON.stringify(added.last_error));
    const found = await client.vectorStores.search(store.id, { query: "harbour" });
    assert.match(found.data[0]?.content[0]?.text ?? "", /Aurora leaves/);
    assert.equal(found.data[0]?.filename, "ships.md");
    const answer = await client.responses.create({
      model,
      input: "When does it leave?",
      include: ["file_search_call.results"],
      tools: [{ type: "file_search", vector_store_ids: [store.id] }],
    });
    assert.deepEqual(
      answer.output.map(({ type }) => type),
      ["file_search_call", "message"],
    );
    const [search] = answer.output;
    assert.ok(search?.type === "file_search_call");
    assert.match(search.results?.[0]?.text ?? "", /Aurora leaves/);
    const kept = await client.vectorStores.retrieve(store.id);
    assert.equal(kept.file_counts.completed, 1);
    assert.equal((await client.vectorStores.delete(store.id)).deleted, true);
  });

  it("puts files into a container, and gets them back", TIMEOUT, async () => {
    await using bench = await serveEmbedded();
    const { containers } = openClient(bench);
    const { id } = await containers.create({ name: "Work" });
    const file = await containers.files.create(id, {
      file: await toFile(Buffer.from("a,b\n1,2\n"), "table.csv"),
    });
    assert.equal(file.bytes, 8);
    const params = { container_id: id };
    const content = await containers.files.content.retrieve(file.id, params);
    assert.equal(await content.text(), "a,b\n1,2\n");
    const names: string[] = [];
    for await (const one of containers.files.list(id)) names.push(one.path);
    assert.equal(names.length, 1);
    await containers.files.delete(file.id, params);
    await assert.rejects(containers.files.retrieve(file.id, params), OpenAI.NotFoundError);
    await containers.delete(id);
    await assert.rejects(containers.retrieve(id), OpenAI.NotFoundError);
  });

  it(
    "reads from an answer the id of a file that code wrote, and downloads it",
    TIMEOUT,
    async () => {
      const code = "open('a.csv', 'w').write('a,b\\n')";
      const text = "Here: [a.csv](sandbox:/mnt/data/a.csv), which is /mnt/data/a.csv.";
      const turn = [
        reply.calls([{ name: "code_interpreter", arguments: { code } }]),
        reply.text(text),
      ];
      await using bench = await serveScript(script(...turn, ...turn, ...turn));
      const client = openClient(bench);
      const tool = { type: "code_interpreter" as const, container: { type: "auto" as const } };
      const asked = { model, input: "Write a table.", tools: [tool] };

      const answer = await client.responses.create(asked);
      const annotations = annotationsOf(answer);
      const [cited, linked, named] = annotations;
      assert.ok(cited?.type === "container_file_citation");
      assert.ok(linked?.type === "file_path" && named?.type === "file_path");
      assert.equal(annotations.length, 3);
      const { container_id, file_id } = cited;
      assert.equal(text.slice(cited.start_index, cited.end_index), "sandbox:/mnt/data/a.csv");
      assert.deepEqual(linked, {
        type: "file_path",
        file_id,
        index: cited.start_index,
        start_index: cited.start_index,
        end_index: cited.end_index,
      });
      assert.equal(named.index, text.lastIndexOf("/mnt"));
      const inContainer = await client.containers.files.content.retrieve(file_id, { container_id });
      assert.equal(await inContainer.text(), "a,b\n");
      assert.equal(await (await client.files.content(linked.file_id)).text(), "a,b\n");
      assert.equal((await client.files.retrieve(linked.file_id)).filename, "a.csv");

      // Read later, whole and as a stream; streamed; and not stored.
      assert.deepEqual(annotationsOf(await client.responses.retrieve(answer.id)), annotations);
      const again = await client.responses.retrieve(answer.id, { stream: true });
      assert.deepEqual(await addedIn(again), annotations);
      for (const store of [true, false]) {
        const stream = client.responses.stream({ ...asked, store });
        const added = await addedIn(stream);
        assert.deepEqual(annotationsOf(await stream.finalResponse()), added);
        assert.deepEqual(
          added.map(({ type }) => type),
          annotations.map(({ type }) => type),
        );
      }
    },
  );

  it("supports chat completions too", TIMEOUT, async () => {
    await using bench = await serveScript(script(reply.text("Hello."), reply.text("Hello.")));
    const { chat } = openClient(bench);
    const request = { model, messages: [{ role: "user" as const, content: "Hi" }] };
    const plain = await chat.completions.create(request);
    assert.equal(plain.choices[0]?.message.content, "Hello.");
    let text = "";
    const stream = await chat.completions.create({ ...request, stream: true });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    assert.equal(text, "Hello.");
  });
});

type Annotation = OpenAI.Responses.ResponseOutputText["annotations"][number];

function annotationsOf({ output }: Pick<OpenAI.Responses.Response, "output">): Annotation[] {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.flatMap((part) => (part.type === "output_text" ? part.annotations : []));
}

async function addedIn(
  stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
): Promise<Annotation[]> {
  const added: Annotation[] = [];
  for await (const event of stream) {
    if (event.type !== "response.output_text.annotation.added") continue;
    assert.equal(event.annotation_index, added.length);
    added.push(event.annotation as Annotation);
  }
  return added;
}

function openClient({ baseURL }: ClientBench): OpenAI {
  return new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
}
