// The stand-in of a model provider as a process of its own, so that its work is not that of the
// generator. Prints its base URL; ends when its input does. Run by gateway.ts.

import { startOpenAiStandIn } from "../support/openai-stand-in.ts";

/** What every chat is answered: some 130 tokens, which a stream brings in 100 parts. */
export const answer = Array.from({ length: 100 }, (_, index) => `word${index % 10}`).join(" ");

if (import.meta.main) {
  const standIn = await startOpenAiStandIn(0, { text: answer });
  console.log(standIn.url);
  process.stdin.resume().once("end", () => void standIn.stop());
}
