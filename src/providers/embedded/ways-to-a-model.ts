/** How to get a real model: part of the help and of every refusal. */

export const WAYS_TO_A_MODEL =
  "set a key (`export OPENAI_API_KEY=…`, or ANTHROPIC_API_KEY, GEMINI_API_KEY), start Ollama (`ollama serve`), or download a small open model (`offshoot models pull NAME`)";
