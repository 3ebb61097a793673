// The address of Temporal's page, for links to workflows. Source: docs/decisions.md, 58.1.

export type TemporalPage = {
  /** Returns the address, without a slash at the end; undefined if it is unknown. */
  url(): string | undefined;
  /** Returns the address of a workflow; undefined if that of the page is unknown. */
  urlOf(workflowId: string): string | undefined;
  /** Sets address and namespace of the embedded Temporal; an address in the settings wins. */
  follow(embedded: { readonly uiUrl: string; readonly namespace: string }): void;
};

export type TemporalPageOptions = {
  /** Address in the settings. */
  readonly uiUrl: string | undefined;
  readonly namespace: string;
};

export function createTemporalPage({ uiUrl, namespace }: TemporalPageOptions): TemporalPage {
  let known = { uiUrl, namespace };
  return {
    url: () => known.uiUrl,
    urlOf: (workflowId) =>
      known.uiUrl &&
      `${known.uiUrl}/namespaces/${encodeURIComponent(known.namespace)}` +
        `/workflows/${encodeURIComponent(workflowId)}`,
    follow(embedded) {
      // The namespace is the embedded server's in both cases.
      known = { uiUrl: uiUrl ?? embedded.uiUrl, namespace: embedded.namespace };
    },
  };
}
