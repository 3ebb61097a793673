// The addresses of the app. Each page is a folder in pages/ whose `route.tsx` says what its search
// parameters are and loads its component when it is first opened.

import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { alertEditRoute, alertRoute, alertsRoute } from "./pages/alerts/route.tsx";
import { chartEditRoute, chartsRoute } from "./pages/charts/route.tsx";
import { compareRoute } from "./pages/compare/route.tsx";
import { componentsRoute } from "./pages/components/route.tsx";
import { playgroundRoute } from "./pages/playground/route.tsx";
import { projectSettingsRoute, settingsRoute } from "./pages/settings/route.tsx";
import { datasetRoute, datasetsRoute } from "./pages/datasets/route.tsx";
import { experimentsRoute, runRoute } from "./pages/experiments/route.tsx";
import { promptRoute, promptsRoute } from "./pages/prompts/route.tsx";
import { annotateRoute, queueRoute, queuesRoute } from "./pages/queues/route.tsx";
import { docRoute, referenceRoute } from "./pages/reference/route.tsx";
import { tracesRoute } from "./pages/traces/route.tsx";
import { evaluatorRoute, evaluatorsRoute } from "./pages/evaluators/route.tsx";
import { sessionRoute } from "./pages/session/route.tsx";
import { SignedInPage } from "./session/signed-in-page.tsx";
import { Home } from "./shell/home.tsx";
import { PageError, PagePending } from "./shell/page-error.tsx";
import { projectRoute, rootRoute } from "./shell/root-routes.tsx";

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    // oxlint-disable-next-line typescript/only-throw-error -- the router's own signal
    throw redirect({ to: "/app", replace: true });
  },
});

const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: "/app", component: Home });

const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/signed-in",
  component: SignedInPage,
});

const projectIndexRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    // oxlint-disable-next-line typescript/only-throw-error -- the router's own signal
    throw redirect({ to: "/app/p/$projectId/traces", params, replace: true });
  },
});

const routeTree = rootRoute.addChildren([
  indexRoute,
  homeRoute,
  signedInRoute,
  componentsRoute,
  settingsRoute,
  referenceRoute,
  docRoute,
  projectRoute.addChildren([
    projectIndexRoute,
    tracesRoute,
    sessionRoute,
    compareRoute,
    chartsRoute,
    chartEditRoute,
    alertsRoute,
    alertEditRoute,
    alertRoute,
    evaluatorsRoute,
    evaluatorRoute,
    playgroundRoute,
    projectSettingsRoute,
    datasetRoute,
    datasetsRoute,
    experimentsRoute,
    runRoute,
    promptRoute,
    promptsRoute,
    annotateRoute,
    queueRoute,
    queuesRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultErrorComponent: PageError,
  defaultPendingComponent: PagePending,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
