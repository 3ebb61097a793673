// Page: what every page of a project is made of, a header with title and acts above its content.

import { type ReactNode, useEffect } from "react";
import { UnreadNote } from "./unread-note.tsx";
import "./page.css";

export type PageProps = {
  readonly title: string;
  /** Shown in place of the title, for a page that leads back: links with `/` between them. */
  readonly breadcrumb?: ReactNode;
  /** Buttons at the right of the title. */
  readonly actions?: ReactNode;
  /** A line of filters and totals under the title. */
  readonly toolbar?: ReactNode;
  /**
   * `fixed`: the content scrolls by itself, such as a table. `read`: a column of text and fields.
   */
  readonly layout?: "fixed" | "read";
  readonly children: ReactNode;
};

export function Page({
  title,
  breadcrumb,
  actions,
  toolbar,
  layout = "fixed",
  children,
}: PageProps) {
  useEffect(() => {
    document.title = `${title} · Waggle`;
  }, [title]);
  return (
    <div className="page" data-layout={layout}>
      <header className="page-header">
        <h1 className={breadcrumb === undefined ? "truncate" : "visually-hidden"}>{title}</h1>
        {breadcrumb === undefined ? null : <div className="page-breadcrumb">{breadcrumb}</div>}
        <div className="page-actions">{actions}</div>
      </header>
      {toolbar === undefined ? null : <div className="page-toolbar">{toolbar}</div>}
      <UnreadNote />
      <div className="page-content">{children}</div>
    </div>
  );
}
