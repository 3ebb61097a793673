// The web app of Waggle: starts it in the page. Part of the service's public face, it talks to the
// public API alone (README.md beside this file).

import "./shell/known-language.ts";
import "@fontsource-variable/inter/wght.css";
import "./design/tokens.css";
import "./design/base.css";
import "./design/forced-colors.css";
import "./design/print.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query.ts";
import { router } from "./router.tsx";
import { checkSignIn } from "./session/sign-in-state.ts";
import { watchLostStyles } from "./shell/lost-styles.ts";
import { applyTheme } from "./shell/theme.ts";
import { watchUnread } from "./shell/unread-note.tsx";

applyTheme();
watchUnread(router);
watchLostStyles();
void checkSignIn();

const element = document.getElementById("app");
if (!element) throw new Error("the page has no place for the app");
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
