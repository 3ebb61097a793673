// MessageView: a conversation as one reads it. Text is inert, tool calls stand beside their
// results, and images and audio load when they are seen.

import { Bot, CornerDownRight, type LucideIcon, Settings2, User, Wrench } from "lucide-react";
import type { ChatMessage, MessagePart } from "./chat-message.ts";
import { JsonView } from "./json-view.tsx";
import { Media } from "./media.tsx";
import { TextView } from "./text-view.tsx";
import { Copy } from "./values.tsx";
import "./message-view.css";

export function MessageView({ messages }: { readonly messages: readonly ChatMessage[] }) {
  const results = new Map(
    messages
      .flatMap(({ parts }) => parts)
      .filter((part) => part.kind === "tool-result")
      .map((part) => [part.id, part]),
  );
  const called = new Set(
    messages
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.kind === "tool-call" && part.id !== undefined ? [part.id] : [])),
  );
  // A result stands beside its call, and not a second time where it was sent.
  const isShown = (part: MessagePart): boolean =>
    part.kind !== "tool-result" || part.id === undefined || !called.has(part.id);
  return (
    <ol className="messages">
      {messages.map(({ role, parts, reasoning }, index) => {
        const shown = parts.filter(isShown);
        const isEmpty = shown.length === 0 && reasoning === undefined;
        if (isEmpty && parts.length > 0) return null;
        const Icon = icons.get(role) ?? Bot;
        return (
          <li key={index} className="message" data-role={role}>
            <header>
              <Icon aria-hidden />
              <span>{role}</span>
              <Copy what="message" text={() => plainText(parts)} />
            </header>
            {isEmpty ? <p className="message-empty">empty</p> : null}
            {reasoning === undefined ? null : (
              <div className="reasoning" role="group" aria-label="Reasoning">
                <p>Reasoning</p>
                <TextView text={reasoning} previewChars={600} />
              </div>
            )}
            {shown.map((part, at) => (
              <Part key={at} part={part} resultOf={(id) => results.get(id)} />
            ))}
          </li>
        );
      })}
    </ol>
  );
}

const icons: ReadonlyMap<string, LucideIcon> = new Map([
  ["system", Settings2],
  ["developer", Settings2],
  ["user", User],
  ["tool", Wrench],
]);

function plainText(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === "text" ? part.text : JSON.stringify(part, null, 2)))
    .join("\n");
}

type PartProps = {
  readonly part: MessagePart;
  readonly resultOf: (id: string | undefined) => MessagePart | undefined;
};

function Part({ part, resultOf }: PartProps) {
  switch (part.kind) {
    case "text":
      return <TextView text={part.text} />;
    case "media":
      return <Media media={part.media} url={part.url} />;
    case "json":
      return <JsonView label="Part" value={part.value} openDepth={1} linesMax={12} />;
    case "tool-result":
      return (
        <div className="tool">
          <Result output={part.output} />
        </div>
      );
    case "tool-call": {
      const result = part.id === undefined ? undefined : resultOf(part.id);
      return (
        <div className="tool">
          <p>
            <Wrench aria-hidden />
            <b>{part.name}</b>
          </p>
          <JsonView label={`Input of ${part.name}`} value={part.input} linesMax={12} />
          {result?.kind === "tool-result" ? <Result output={result.output} /> : null}
        </div>
      );
    }
  }
}

function Result({ output }: { readonly output: unknown }) {
  return (
    <div className="tool-result">
      <CornerDownRight aria-label="Result" />
      {typeof output === "string" ? (
        <TextView text={output} previewChars={1_000} />
      ) : (
        <JsonView label="Result" value={output} linesMax={12} />
      )}
    </div>
  );
}
