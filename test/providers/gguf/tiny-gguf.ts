/**
 * A language model of half a megabyte, made by the test: two layers, 64 wide, one token for each byte,
 * random weights. Its text means nothing, but it loads and obeys a grammar like a real one.
 */

/** Types of GGUF's metadata, by their numbers in the file. */
const U32 = 4;
const I32 = 5;
const F32 = 6;
const TEXT = 8;
const LIST = 9;

const WIDTH = 64;
const HIDDEN = 128;
const LAYERS = 2;
const CONTEXT = 2048;
const ALIGNMENT = 32;

const TEMPLATE = [
  "{% for message in messages %}",
  "{{ '<' + message['role'] + '>' + message['content'] + '\\n' }}",
  "{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}",
].join("");

export function createTinyGguf(): Buffer {
  const tokens = ["<unk>", "<s>", "</s>"];
  for (let byte = 0; byte < 256; byte++) {
    tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  }
  // Unknown is 2, control is 3, a byte is 6.
  const kinds = tokens.map((_, index) => (index === 0 ? 2 : index < 3 ? 3 : 6));
  const metadata: [name: string, value: Buffer][] = [
    ["general.architecture", text("llama")],
    ["general.name", text("tiny")],
    ["llama.context_length", u32(CONTEXT)],
    ["llama.embedding_length", u32(WIDTH)],
    ["llama.block_count", u32(LAYERS)],
    ["llama.feed_forward_length", u32(HIDDEN)],
    ["llama.attention.head_count", u32(4)],
    ["llama.attention.head_count_kv", u32(4)],
    ["llama.attention.layer_norm_rms_epsilon", f32(1e-5)],
    ["llama.rope.dimension_count", u32(WIDTH / 4)],
    ["tokenizer.ggml.model", text("llama")],
    ["tokenizer.ggml.tokens", list(TEXT, tokens.map(string))],
    [
      "tokenizer.ggml.scores",
      list(
        F32,
        tokens.map(() => float(0)),
      ),
    ],
    ["tokenizer.ggml.token_type", list(I32, kinds.map(integer))],
    ["tokenizer.ggml.bos_token_id", u32(1)],
    ["tokenizer.ggml.eos_token_id", u32(2)],
    ["tokenizer.ggml.unknown_token_id", u32(0)],
    ["tokenizer.chat_template", text(TEMPLATE)],
  ];
  return joinFile(metadata, tensors(tokens.length));
}

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

function tensors(vocabulary: number): Tensor[] {
  const layers = Array.from({ length: LAYERS }, (_, layer) =>
    [
      { name: "attn_norm", shape: [WIDTH] },
      { name: "attn_q", shape: [WIDTH, WIDTH] },
      { name: "attn_k", shape: [WIDTH, WIDTH] },
      { name: "attn_v", shape: [WIDTH, WIDTH] },
      { name: "attn_output", shape: [WIDTH, WIDTH] },
      { name: "ffn_norm", shape: [WIDTH] },
      { name: "ffn_gate", shape: [WIDTH, HIDDEN] },
      { name: "ffn_up", shape: [WIDTH, HIDDEN] },
      { name: "ffn_down", shape: [HIDDEN, WIDTH] },
    ].map(({ name, shape }) => ({ name: `blk.${layer}.${name}.weight`, shape })),
  );
  return [
    { name: "token_embd.weight", shape: [WIDTH, vocabulary] },
    ...layers.flat(),
    { name: "output_norm.weight", shape: [WIDTH] },
    { name: "output.weight", shape: [WIDTH, vocabulary] },
  ];
}

function joinFile(metadata: readonly [string, Buffer][], all: readonly Tensor[]): Buffer {
  const random = createRandom();
  const infos: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  for (const { name, shape } of all) {
    infos.push(string(name), integer(shape.length), ...shape.map(long), integer(0), long(offset));
    const count = shape.reduce((product, size) => product * size, 1);
    // A norm near one keeps the numbers of later layers in range.
    const values = Float32Array.from({ length: count }, () =>
      shape.length === 1 ? 1 : (random() - 0.5) * 0.5,
    );
    data.push(Buffer.from(values.buffer));
    offset += values.byteLength;
  }
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    integer(3),
    long(all.length),
    long(metadata.length),
    ...metadata.flatMap(([name, value]) => [string(name), value]),
    ...infos,
  ]);
  const padding = Buffer.alloc((ALIGNMENT - (head.length % ALIGNMENT)) % ALIGNMENT);
  return Buffer.concat([head, padding, ...data]);
}

/** The same numbers every time. */
function createRandom(): () => number {
  let state = 42;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([long(bytes.length), bytes]);
}

function text(value: string): Buffer {
  return Buffer.concat([integer(TEXT), string(value)]);
}

function u32(value: number): Buffer {
  return Buffer.concat([integer(U32), integer(value)]);
}

function f32(value: number): Buffer {
  return Buffer.concat([integer(F32), float(value)]);
}

function list(type: number, values: readonly Buffer[]): Buffer {
  return Buffer.concat([integer(LIST), integer(type), long(values.length), ...values]);
}
