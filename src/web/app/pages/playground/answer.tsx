// The answer of one column: its words as they come, then the whole message with cost, tokens and
// times, and the link to the trace; or what went wrong and the way on.

import { Link } from "@tanstack/react-router";
import { CornerDownRight, MessageSquareText } from "lucide-react";
import { pageAddress, useCurrentProjectId } from "../../api/project.ts";
import { Status, type Tone } from "../../design/badge.tsx";
import { Button } from "../../design/button.tsx";
import { type Fields, toChatMessages } from "../../design/chat-message.ts";
import { MessageView } from "../../design/message-view.tsx";
import { EmptyState, ErrorState } from "../../design/states.tsx";
import { TextView } from "../../design/text-view.tsx";
import { Cost, Duration, KeyValue, Tokens } from "../../design/values.tsx";
import { answerOf, isCutOff, isRecorded, type Run } from "./run.ts";

type AnswerProps = {
  readonly run: Run | undefined;
  readonly mayRun: boolean;
  /** Called with the answer that the messages shall go on from. */
  readonly onContinue: (answer: Fields) => void;
};

export function Answer({ run, mayRun, onContinue }: AnswerProps) {
  if (!run) {
    return (
      <EmptyState icon={<MessageSquareText />} title="No answer yet">
        {mayRun ? "Choose a model and run the messages." : null}
      </EmptyState>
    );
  }
  const answer = answerOf(run);
  return (
    <div className="answer">
      <AnswerNumbers run={run} />
      <AnswerBody run={run} />
      {isCutOff(run) ? (
        <p className="playground-note">
          The model had no tokens left for the end: raise max_tokens in the parameters.
        </p>
      ) : null}
      {answer ? (
        <Button size="small" icon={<CornerDownRight />} onClick={() => onContinue(answer)}>
          Continue
        </Button>
      ) : null}
      {run.error ? <Failure run={run} /> : null}
    </div>
  );
}

const states: Readonly<Record<Run["state"], { readonly tone: Tone; readonly word: string }>> = {
  running: { tone: "info", word: "running" },
  done: { tone: "good", word: "done" },
  stopped: { tone: "warn", word: "stopped" },
  failed: { tone: "bad", word: "failed" },
};

const cutOff = { tone: "warn", word: "done, but cut off" } as const;

function AnswerNumbers({ run }: { readonly run: Run }) {
  const projectId = useCurrentProjectId();
  const { generation, tokens, firstWordMs, totalMs } = run;
  const { tone, word } = isCutOff(run) ? cutOff : states[run.state];
  return (
    <div className="answer-numbers">
      <span role="status">
        <Status tone={tone}>{word}</Status>
      </span>
      <KeyValue
        isRow
        items={[
          // One clock measures both, so the first word is never later than the whole answer.
          { label: "First word in this browser", value: <Duration value={firstWordMs} /> },
          { label: "Whole answer in this browser", value: <Duration value={totalMs} /> },
          // The number of traces and charts. The way to the browser and back is not in it.
          { label: "Latency in the service", value: <Duration value={generation?.latency} /> },
          {
            label: "Tokens",
            value: (
              <Tokens
                value={tokens?.total}
                {...(tokens?.prompt !== undefined && { prompt: tokens.prompt })}
                {...(tokens?.completion !== undefined && { completion: tokens.completion })}
              />
            ),
          },
          { label: "Cost", value: <Cost value={generation?.cost} /> },
        ]}
      />
      {run.state !== "running" && isRecorded(run) ? (
        <Link to={pageAddress(projectId, `traces/${run.sessionId}`)}>Open the trace</Link>
      ) : null}
    </div>
  );
}

function AnswerBody({ run }: { readonly run: Run }) {
  const { generation, text } = run;
  const choices = generation?.choices.map(({ message }) => message);
  const messages = choices ? toChatMessages(choices) : undefined;
  if (messages) return <MessageView messages={messages} />;
  return text === "" ? null : (
    <div aria-live="off">
      <TextView text={text} />
    </div>
  );
}

/** What a failure of a provider may mean; the answer of the service does not say which it is. */
const meanings: Readonly<Record<string, string>> = {
  PROVIDER_FAILED: "Its trace says how the provider failed. Where it refused the key, change that.",
  PROVIDER_LIMITED:
    "The provider takes no more calls for now. Its trace says which limit it named.",
};
const providerAdvice = "The key or address of the provider may be wrong or missing.";

function Failure({ run }: { readonly run: Run }) {
  const projectId = useCurrentProjectId();
  const { error } = run;
  if (!error) return null;
  const { errorCode } = error;
  const isRefusedHere = !errorCode.startsWith("PROVIDER_") && /provider/i.test(error.message);
  const meaning = meanings[errorCode] ?? (isRefusedHere ? providerAdvice : undefined);
  return (
    <>
      <ErrorState error={error} isInline />
      {meaning === undefined ? null : (
        <p className="playground-note">
          {meaning}{" "}
          {errorCode === "PROVIDER_LIMITED" ? null : (
            <Link
              to="/app/p/$projectId/settings"
              params={{ projectId }}
              search={{ tab: "providers" }}
            >
              Open the providers
            </Link>
          )}
        </p>
      )}
      {errorCode === "BUDGET_EXHAUSTED" ? (
        <p className="playground-note">
          <Link to="/app/p/$projectId/settings" params={{ projectId }} search={{ tab: "budgets" }}>
            Open the budgets
          </Link>
        </p>
      ) : null}
    </>
  );
}
