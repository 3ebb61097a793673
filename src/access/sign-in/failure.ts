// Formats failures on the sign-in pages: a small page for people, JSON for programs. Source:
// docs/decisions.md, 10.

import { outcomes, type ServiceError } from "../../base/errors.ts";
import type { PageAnswer } from "../../transport/pages.ts";
import { bareHeaders, escapeHtml, toHtmlAnswer } from "./html.ts";

/** Returns the answer for a failure. `entrance` selects the way to sign in that the page names. */
export function toFailureAnswer(
  failure: ServiceError,
  accept: string | undefined,
  entrance: "provider" | "link",
): PageAnswer {
  const { status } = outcomes[failure.reason];
  if (wantsJson(accept)) return toJsonAnswer(failure, status);
  const wayBack =
    entrance === "provider"
      ? '<p><a href="/auth/sign-in">Sign in again</a></p>'
      : "<p>The operator gets a fresh link by <code>waggle sign-in-link</code>.</p>";
  return toHtmlAnswer({
    status,
    title: status >= 500 ? "Sign-in is unavailable now" : "You are not signed in",
    content: `<p>${escapeHtml(explain(failure, status))}</p>${wayBack}`,
  });
}

function explain({ reason, message }: ServiceError, status: number): string {
  if (status < 500 || reason === "SIGN_IN_UNAVAILABLE") return message;
  if (reason === "INTERNAL") return "Something went wrong, and the log of the service says what.";
  return "The service is not ready. Try again in a moment.";
}

function wantsJson(accept = ""): boolean {
  return accept.includes("application/json") && !accept.includes("text/html");
}

function toJsonAnswer({ reason, message }: ServiceError, status: number): PageAnswer {
  const body = {
    success: false,
    statusCode: status,
    errorCode: reason,
    ...(status < 500 ? { message } : {}),
  };
  return {
    status,
    headers: { ...bareHeaders, "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}
