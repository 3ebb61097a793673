// PromptUse: how a program calls the prompt, ready to copy.

import { useState } from "react";
import type { Configuration } from "../../../../../gen/waggle/v1/configuration_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { Select } from "../../design/input.tsx";
import { SnippetView } from "../../design/snippet-view.tsx";
import { environments, toContent, variablesOf } from "./prompt-content.ts";

export function PromptUse({ prompt }: { readonly prompt: Configuration }) {
  const project = useCurrentProjectId();
  const deployed = environments.filter((name) => prompt.env.includes(name));
  const [environment, setEnvironment] = useState<string>(deployed.at(-1) ?? "");
  const { messages } = toContent(prompt.provider, prompt.parameters);
  const inputs = Object.fromEntries(variablesOf(messages).map((name) => [name, "…"]));
  const body = {
    configuration: prompt.name,
    ...(environment !== "" && { environment }),
    inputs,
    messages: [{ role: "user", content: "Hello" }],
  };
  return (
    <div className="form">
      <div>
        <Select
          aria-label="Version to call"
          value={environment}
          options={[
            { value: "", label: "The newest version" },
            ...deployed.map((name) => ({ value: name, label: `The version in ${name}` })),
          ]}
          onChange={setEnvironment}
        />
      </div>
      <SnippetView
        title="Waggle's own call"
        code={curl("/chat", { project, ...body })}
        what="call"
      />
      <SnippetView
        title="As the API of OpenAI"
        code={curl("/v1/chat/completions", body)}
        what="call"
      />
      <p className="soft">
        The template comes first, filled from inputs; then the messages of the call. The model and
        the parameters are those of the prompt unless the call has its own.
      </p>
    </div>
  );
}

function curl(path: string, body: unknown): string {
  // A quote in a shell's quotes: end them, an escaped quote, begin them again.
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`);
  return [
    `curl ${globalThis.location.origin}${path} \\`,
    `  -H "authorization: Bearer $WAGGLE_API_KEY" \\`,
    `  -H "content-type: application/json" \\`,
    `  -d '${json}'`,
  ].join("\n");
}
