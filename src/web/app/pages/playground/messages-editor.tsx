// The messages of the playground: role and text of each, with buttons to move and remove them, and
// the values of their variables.

import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "../../design/button.tsx";
import { TextField } from "../../design/fields.tsx";
import { Input, Select, TextArea } from "../../design/input.tsx";
import { type Draft, type DraftMessage, newMessage } from "./draft.ts";
import { valueOf, variablesOf } from "../prompts/prompt-content.ts";

const roles = ["system", "user", "assistant", "tool"].map((role) => ({ value: role, label: role }));

export type MessagesEditorProps = {
  readonly draft: Draft;
  /** Id of the message that takes the focus when it appears. */
  readonly focusId: string | undefined;
  readonly onChange: (change: Partial<Draft>) => void;
};

export function MessagesEditor({ draft, focusId, onChange }: MessagesEditorProps) {
  const { messages } = draft;
  const setMessage = (index: number, message: DraftMessage) =>
    onChange({ messages: messages.with(index, message) });
  const move = (index: number, to: number) => {
    const message = messages[index];
    if (message) onChange({ messages: messages.toSpliced(index, 1).toSpliced(to, 0, message) });
  };
  return (
    <section aria-label="Messages" className="playground-messages">
      <ol>
        {messages.map((message, index) => (
          <MessageEditor
            key={message.id}
            message={message}
            index={index}
            count={messages.length}
            takesFocus={message.id === focusId}
            onChange={(next) => setMessage(index, next)}
            onMove={(to) => move(index, to)}
            onRemove={() => onChange({ messages: messages.toSpliced(index, 1) })}
          />
        ))}
      </ol>
      <Button
        size="small"
        icon={<Plus />}
        onClick={() => {
          const role = messages.at(-1)?.role === "user" ? "assistant" : "user";
          onChange({ messages: [...messages, newMessage(role)] });
        }}
      >
        Add message
      </Button>
    </section>
  );
}

type MessageEditorProps = {
  readonly message: DraftMessage;
  readonly index: number;
  readonly count: number;
  readonly takesFocus: boolean;
  readonly onChange: (message: DraftMessage) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
};

function MessageEditor(props: MessageEditorProps) {
  const { message, index, count, takesFocus, onChange, onMove, onRemove } = props;
  const name = `message ${index + 1}`;
  const { tool_call_id: callId, ...others } = message.rest ?? {};
  const isResult = message.role === "tool";
  const extras = Object.keys(isResult ? others : (message.rest ?? {}));
  const options = roles.some(({ value }) => value === message.role)
    ? roles
    : [...roles, { value: message.role, label: message.role }];
  return (
    <li className="playground-message">
      <header>
        <Select
          isSmall
          aria-label={`Role of ${name}`}
          options={options}
          value={message.role}
          onChange={(role) => onChange({ ...message, role })}
        />
        {message.isJson === true ? <span className="playground-note">content as JSON</span> : null}
        {extras.length === 0 ? null : (
          <span className="playground-note truncate" title={JSON.stringify(message.rest)}>
            with {extras.join(", ")}
          </span>
        )}
        <span className="playground-message-acts">
          <IconButton
            size="small"
            label={`Move ${name} up`}
            icon={<ArrowUp />}
            disabled={index === 0}
            onClick={() => onMove(index - 1)}
          />
          <IconButton
            size="small"
            label={`Move ${name} down`}
            icon={<ArrowDown />}
            disabled={index === count - 1}
            onClick={() => onMove(index + 1)}
          />
          <IconButton
            size="small"
            label={`Remove ${name}`}
            icon={<Trash2 />}
            disabled={count === 1}
            onClick={onRemove}
          />
        </span>
      </header>
      {isResult ? (
        <Input
          aria-label={`Call that ${name} answers`}
          placeholder="Id of the call, as in tool_calls"
          value={typeof callId === "string" ? callId : ""}
          onChange={({ target }) =>
            onChange({ ...message, rest: { ...others, tool_call_id: target.value } })
          }
        />
      ) : null}
      <TextArea
        autoFocus={takesFocus}
        aria-label={`Text of ${name}`}
        placeholder={placeholders[message.role] ?? "Text"}
        value={message.text}
        onChange={(event) => onChange({ ...message, text: event.target.value })}
      />
    </li>
  );
}

const placeholders: Readonly<Record<string, string>> = {
  system: "How the model should behave. {{ name }} makes a variable.",
  user: "What a person asks.",
  assistant: "What the model answered.",
  tool: "What the tool returned.",
};

/** A field for the value of each variable in the messages. */
export function VariablesEditor({ draft, onChange }: Omit<MessagesEditorProps, "focusId">) {
  const names = variablesOf(draft.messages);
  if (names.length === 0) return null;
  return (
    <section aria-label="Variables" className="playground-variables">
      <h2>Variables</h2>
      {names.map((name) => {
        const value = valueOf(draft.variables, name);
        return (
          <TextField
            key={name}
            label={name}
            hint={value === "" ? "Empty: the messages are sent without it." : undefined}
            value={value}
            onChange={(text) => onChange({ variables: { ...draft.variables, [name]: text } })}
          />
        );
      })}
    </section>
  );
}
