/**
 * Small open models that `offshoot models pull` knows by name. All are GGUF files under Apache-2.0,
 * published by the model's own makers. Sizes and checksums are those of the published files.
 */

export interface PullRow {
  readonly url: string;
  readonly bytes: number;
  readonly sha256: string;
  /** One line for `offshoot models`. */
  readonly summary: string;
}

const HUB = "https://huggingface.co";

export const PULL_TABLE = {
  "smollm2-360m": {
    url: `${HUB}/HuggingFaceTB/SmolLM2-360M-Instruct-GGUF/resolve/main/smollm2-360m-instruct-q8_0.gguf`,
    bytes: 386_404_992,
    sha256: "48ab3034d0dd401fbc721eb1df3217902fee7dab9078992d66431f09b7750201",
    summary: "SmolLM2 360M Instruct, Q8_0: the smallest; short answers in English",
  },
  "qwen2.5-0.5b": {
    url: `${HUB}/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/qwen2.5-0.5b-instruct-q4_k_m.gguf`,
    bytes: 491_400_032,
    sha256: "74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
    summary: "Qwen2.5 0.5B Instruct, Q4_K_M: small, many languages",
  },
  "qwen3-0.6b": {
    url: `${HUB}/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf`,
    bytes: 639_446_688,
    sha256: "9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
    summary: "Qwen3 0.6B, Q8_0: small, thinks, calls tools",
  },
  "qwen2.5-1.5b": {
    url: `${HUB}/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf`,
    bytes: 1_117_320_736,
    sha256: "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
    summary: "Qwen2.5 1.5B Instruct, Q4_K_M: calls tools, fits 2 GB of memory",
  },
  "qwen3-1.7b": {
    url: `${HUB}/Qwen/Qwen3-1.7B-GGUF/resolve/main/Qwen3-1.7B-Q8_0.gguf`,
    bytes: 1_834_426_016,
    sha256: "061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
    summary: "Qwen3 1.7B, Q8_0: thinks, calls tools, fits 3 GB of memory",
  },
  "qwen3-4b": {
    url: `${HUB}/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf`,
    bytes: 2_497_280_256,
    sha256: "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
    summary: "Qwen3 4B, Q4_K_M: the best of these, fits 4 GB of memory",
  },
} as const satisfies Record<string, PullRow>;
