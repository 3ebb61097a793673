// Replaces a page that failed; the rest of the app keeps working.

import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Button } from "../design/button.tsx";
import { EmptyState, ErrorState, Loading } from "../design/states.tsx";
import { Page } from "./page.tsx";
import { useProjects } from "./projects.ts";

const unloaded =
  "The page could not be loaded: the service does not answer, or the app was updated meanwhile.";

export function PageError({ error: thrown, reset }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const router = useRouter();
  const isUnloaded = /dynamically imported module|module script|preload CSS/.test(error.message);
  return (
    <Page title="Something went wrong">
      <ErrorState
        error={isUnloaded ? new Error(unloaded) : error}
        onRetry={() => {
          // Files of the build before are gone; the page of the new one names its own.
          if (isUnloaded) globalThis.location.reload();
          reset();
          void router.invalidate();
        }}
      />
    </Page>
  );
}

export function PageNotFound() {
  return (
    <Page title="Not found">
      <EmptyState title="No page has this address">
        Choose one in the sidebar, or search with the command palette.
      </EmptyState>
    </Page>
  );
}

/** Stands in the place of every page of a project that the person does not see. */
export function ProjectNotFound() {
  const { refetch } = useProjects();
  return (
    <Page title="Not found">
      <EmptyState
        title="You have no project of this address"
        action={<Button onClick={() => void refetch()}>Look again</Button>}
      >
        It does not exist, it is archived, or you have no role in it. Choose another one at the top
        of the sidebar, or ask an administrator for a role.
      </EmptyState>
    </Page>
  );
}

export function PagePending() {
  return <Loading what="Loading the page" />;
}
