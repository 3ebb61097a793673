// Markdown of the repository's docs as elements. Links between the docs stay in the app; links to
// files of the repository are their text alone.

import { Link } from "@tanstack/react-router";
import { compiler } from "markdown-to-jsx/react";
import type { ReactNode } from "react";

export function Markdown({ text }: { readonly text: string }) {
  return compiler(text, {
    disableParsingRawHTML: true,
    wrapper: "div",
    forceBlock: true,
    overrides: { a: DocLink, pre: Scrolled, table: WideTable },
  });
}

type LinkProps = { readonly href?: string; readonly children?: ReactNode };

function DocLink({ href = "", children }: LinkProps) {
  if (/^https?:/.test(href)) {
    return (
      <a href={href} target="_blank" rel="noreferrer">
        {children}
      </a>
    );
  }
  if (href.startsWith("#")) return <a href={href}>{children}</a>;
  const [, name, hash] = /^(?:\.\/)?(?:docs\/)?([\w-]+)\.md(?:#(.*))?$/.exec(href) ?? [];
  if (name === undefined) return <>{children}</>;
  return (
    <Link to="/reference/docs/$name" params={{ name }} {...(hash !== undefined && { hash })}>
      {children}
    </Link>
  );
}

function Scrolled({ children }: { readonly children?: ReactNode }) {
  return <pre tabIndex={0}>{children}</pre>;
}

function WideTable({ children }: { readonly children?: ReactNode }) {
  return (
    <div className="doc-table" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}
