// Sends notifications as e-mail through the operator's SMTP server. Source: docs/alerts.md.

import { deliveryMsMax } from "../base/tenant-limits.ts";
import type { PostOutcome } from "./webhook.ts";

export type MailServer = {
  /** `smtp://user:password@host:port`, or `smtps://` for TLS from the first byte. */
  readonly url: string;
  /** Sender's address. */
  readonly from: string;
};

export type Letter = {
  /** Id of the notification; in the header `X-Waggle-Notification` and in the Message-ID. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
};

/** What nodemailer throws. `originalCode` is that of the socket, such as `ECONNREFUSED`. */
type MailError = {
  readonly code?: string;
  readonly originalCode?: string;
  readonly responseCode?: number;
  /** SMTP command that failed. */
  readonly command?: string;
};

/** SMTP codes from here on are permanent. Source: RFC 5321, 4.2.1. */
const permanentMin = 500;

/**
 * Sends a mail once. Never fails: the outcome has the reason, without a password, and which
 * addresses took the mail if others did not.
 */
export async function sendMail(
  { url, from }: MailServer,
  { id, to, subject, text }: Letter,
): Promise<PostOutcome> {
  const transport = await openTransport(url);
  const host = from.split("@").at(-1)?.replace(/>$/, "") ?? "waggle";
  try {
    const { accepted, rejectedErrors = [] } = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      messageId: `<${id}@${host}>`,
      headers: { "X-Waggle-Notification": id },
    });
    if (rejectedErrors.length === 0) return { error: null };
    const codes = rejectedErrors.map(({ responseCode = 0 }) => responseCode);
    const status = [...new Set(codes)].join(", ");
    const taken = new Set(accepted.map((address) => address.toLowerCase()));
    return {
      error: `the mail server refused ${codes.length} of ${to.length} addresses (status ${status})`,
      isFinal: codes.every((code) => code >= permanentMin),
      reached: to.filter((address) => taken.has(address.toLowerCase())),
    };
  } catch (error) {
    const { responseCode, command } = error as MailError;
    return {
      error: `the mail server refused or cannot be reached (${describe(error as MailError)})`,
      // Only a refused address is final: a password, a certificate or the sender that the server
      // does not take may be corrected by the operator before the next attempt.
      isFinal: command === "RCPT TO" && (responseCode ?? 0) >= permanentMin,
    };
  } finally {
    transport.close();
  }
}

/**
 * Connects and signs in, and sends nothing. Returns why that failed, without a password; undefined
 * if it did not.
 */
export async function findMailFault(url: string): Promise<string | undefined> {
  const transport = await openTransport(url);
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return describe(error as MailError);
  } finally {
    transport.close();
  }
}

async function openTransport(url: string) {
  // Many services never send a mail.
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    connectionTimeout: deliveryMsMax,
    greetingTimeout: deliveryMsMax,
    socketTimeout: deliveryMsMax,
    // Nothing of a mail is ever a path or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Returns codes only, since a server's text may repeat a password. */
function describe({ code = "unknown", originalCode, responseCode }: MailError): string {
  const status = responseCode === undefined ? "" : `, status ${responseCode}`;
  return `${originalCode ?? code}${status}`;
}
