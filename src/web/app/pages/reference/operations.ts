// The library that shows an OpenAPI document; it loads with the reference alone. What it lacks for
// keyboards and screen readers is added here.

import type { createElement, ReactNode } from "react";
// @ts-expect-error -- the package brings no types
import library from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { resolvePart } from "./resolve-part.ts";

type Plugin = (system: { readonly React: { readonly createElement: typeof createElement } }) => {
  readonly components?: Readonly<Record<string, (props: { readonly text: string }) => ReactNode>>;
  readonly fn?: {
    readonly resolveSubtree: (
      document: unknown,
      path: readonly string[],
    ) => Promise<{ readonly spec: unknown; readonly errors: readonly Error[] }>;
  };
  readonly statePlugins?: {
    readonly layout: {
      readonly actions: { readonly scrollToElement: (element: HTMLElement) => () => void };
    };
  };
};

/** The part of the library that is used here. */
const showDocument = library as (options: {
  readonly domNode: HTMLElement;
  readonly url: string;
  readonly plugins: readonly Plugin[];
  readonly deepLinking: boolean;
  readonly docExpansion: "none" | "list" | "full";
  readonly defaultModelsExpandDepth: number;
  readonly displayRequestDuration: boolean;
  readonly filter: boolean;
  readonly tryItOutEnabled: boolean;
  readonly validatorUrl: string | null;
  readonly onComplete: () => void;
}) => unknown;

/**
 * Shows the operations of this service in an element, and calls `onShown` when they are there.
 * Returns the function that ends it.
 */
export function showOperations(element: HTMLElement, onShown: () => void): () => void {
  const watch = new MutationObserver(() => mend(element));
  watch.observe(element, { childList: true, subtree: true });
  showDocument({
    domNode: element,
    url: "/openapi.json",
    plugins: [plainNames, quickReferences, exactScrolling],
    // An address for each operation.
    deepLinking: true,
    docExpansion: "none",
    // The schemas stand with their operations.
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    // The default asks a validator on another host.
    validatorUrl: null,
    onComplete: onShown,
  });
  return () => watch.disconnect();
}

/** Shows the name of an operation as text: the library puts a link inside of a button. */
const plainNames: Plugin = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement("span", null, text) },
});

/** Resolves the references of each operation when it is opened. */
const quickReferences: Plugin = () => ({
  fn: {
    resolveSubtree: (document, path) =>
      Promise.resolve({ spec: resolvePart(document, path) ?? null, errors: [] }),
  },
});

/** Scrolls to the operation of the address: the library itself goes too far by the page's head. */
const exactScrolling: Plugin = () => ({
  statePlugins: {
    layout: { actions: { scrollToElement: (element) => () => element.scrollIntoView() } },
  },
});

/** Lets the keyboard scroll code that is wider than the page, and names the controls. */
function mend(element: HTMLElement): void {
  for (const code of element.querySelectorAll<HTMLElement>(".microlight:not([tabindex])")) {
    code.tabIndex = 0;
  }
  for (const button of element.querySelectorAll(".close-modal:not([aria-label])")) {
    button.setAttribute("aria-label", "Close");
  }
  element.querySelector("#servers")?.setAttribute("aria-label", "Server");
  for (const fold of element.querySelectorAll(".json-schema-2020-12-accordion")) {
    // A schema without a name has a button without a text.
    if (fold.textContent.trim() === "") fold.setAttribute("aria-label", "Schema");
  }
  // The label differs from the text of the button, which is what a person says to voice control.
  for (const button of element.querySelectorAll(".auth-btn-wrapper [aria-label]")) {
    button.removeAttribute("aria-label");
  }
}
