// Guesses a model's provider from the form of its name.
// Source: docs/decisions.md, 20; the providers' lists of models.

import type { ProviderType } from "../../provider.ts";

const bedrockMakers = [
  "ai21|amazon|anthropic|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|nvidia",
  "openai|qwen|stability|twelvelabs|writer",
].join("|");

/** Bedrock's ids begin with the maker, or with a region group and the maker. */
const bedrockId = new RegExp(
  "^(?:arn:aws[\\w-]*:bedrock:" +
    `|(?:(?:us|eu|apac|jp|au|ca|global|us-gov)\\.)?(?:${bedrockMakers})\\.)`,
);

const forms: readonly (readonly [RegExp, ProviderType])[] = [
  [/^(?:ft:)?(?:gpt-|chatgpt-|o[134](?:$|-)|text-embedding-)/, "openai"],
  [/^claude(?:$|-)/, "anthropic"],
  [/^gemini(?:$|-)/, "google"],
  [/^(?:open-)?(?:mistral|mixtral|codestral|ministral|pixtral|magistral)(?:$|-)/, "mistral"],
  [bedrockId, "bedrock"],
];

/** Returns the type of the provider whose models have such names; undefined if none has. */
export function guessType(model: string): ProviderType | undefined {
  return forms.find(([form]) => form.test(model))?.[1];
}
