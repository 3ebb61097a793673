// ReferenceLayout: the list of the API reference and the docs on the left, one of them on the
// right.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button } from "../../design/button.tsx";
import { useSignIn } from "../../session/sign-in-state.ts";
import { Page } from "../../shell/page.tsx";
import { docGroups } from "./doc-pages.ts";
import "./reference.css";

export type ReferenceLayoutProps = { readonly title: string; readonly children: ReactNode };

export function ReferenceLayout({ title, children }: ReferenceLayoutProps) {
  const isSignedIn = "me" in useSignIn();
  const toApp = (
    <Button asChild>
      <Link to="/app">Open the app</Link>
    </Button>
  );
  return (
    <Page title={title} {...(!isSignedIn && { actions: toApp })}>
      <div className="reference">
        <nav className="reference-pages" aria-label="Reference and docs">
          <Link to="/reference" activeOptions={{ exact: true }}>
            API reference
          </Link>
          {docGroups.map((group) => (
            <section key={group.title} aria-label={group.title}>
              <h2>{group.title}</h2>
              {group.pages.map((page) => (
                <Link key={page.name} to="/reference/docs/$name" params={{ name: page.name }}>
                  {page.title}
                </Link>
              ))}
            </section>
          ))}
        </nav>
        {children}
      </div>
    </Page>
  );
}
