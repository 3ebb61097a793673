// The stand-in of a model provider as a separate process, so that its work does not slow the
// generator. Prints its base URL; ends when its input ends.

import { startOpenAiStandIn } from "../support/openai-stand-in.ts";

/** Answer to every chat: about 130 tokens, which a stream sends in 100 parts. */
export const answer = Array.from({ length: 100 }, (_, index) => `word${index % 10}`).join(" ");

if (import.meta.main) {
  const standIn = await startOpenAiStandIn(0, { text: answer });
  console.log(standIn.url);
  process.stdin.resume().once("end", () => void standIn.stop());
}
