// The HTML pages of sign-in: readable without scripts, with headers that forbid everything else.
// Source: Content Security Policy Level 3.

import { createHash } from "node:crypto";
import type { PageAnswer } from "../../transport/pages.ts";

const style = [
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;",
  "color:#222;background:#fff}h1{font-size:1.4rem}",
  "button{font:inherit;padding:.5rem 1.2rem;border:0;border-radius:.3rem;",
  "background:#8a4b00;color:#fff}a{color:#8a4b00}",
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#1b1b1b}a{color:#f0b060}}",
].join("");

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** Headers of every answer of these routes, in any form. */
export const bareHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export type HtmlPage = {
  readonly status: number;
  readonly title: string;
  /** HTML; the caller escapes texts in it. */
  readonly content: string;
};

/** Returns a page with its headers. */
export function toHtmlAnswer({ status, title, content }: HtmlPage): PageAnswer {
  return {
    status,
    headers: {
      ...bareHeaders,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "x-frame-options": "DENY",
    },
    body:
      '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width">' +
      `<title>${escapeHtml(title)}</title><style>${style}</style></head>` +
      `<body><h1>${escapeHtml(title)}</h1>${content}</body></html>\n`,
  };
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "");
}
