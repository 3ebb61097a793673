// The frame of every page: sidebar or bottom bar, palette, keys, messages, and the dialog of an
// ended sign-in.

import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { pageAddress } from "../api/project.ts";
import { Toasts } from "../design/toast.tsx";
import { TooltipProvider } from "../design/tooltip.tsx";
import { SignInAgain } from "../session/sign-in-again.tsx";
import { SignInPage } from "../session/sign-in-page.tsx";
import { signOut, useSignIn } from "../session/sign-in-state.ts";
import { type Command, useCommands } from "./commands.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { destinations } from "./navigation.ts";
import { Palette } from "./palette.tsx";
import { useNavigationProjectId, useProjects } from "./projects.ts";
import { useShortcuts } from "./shortcuts.ts";
import { BottomBar, Sidebar } from "./sidebar.tsx";
import { setTheme } from "./theme.ts";
import "./shell.css";

const narrowWindow = globalThis.matchMedia("(max-width: 700px)");
const narrowSidebarKey = "waggle.sidebar";

/** Returns whether the window is as narrow as a phone's. */
export function useIsNarrowWindow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrowWindow.addEventListener("change", listener);
      return () => narrowWindow.removeEventListener("change", listener);
    },
    () => narrowWindow.matches,
  );
}

/**
 * Shows the app to people who are signed in, and the way to sign in to others; both read the
 * reference and the docs.
 */
export function Root() {
  const signIn = useSignIn();
  const isReference = useLocation().pathname.startsWith("/reference");
  return (
    <TooltipProvider delayDuration={350} skipDelayDuration={200}>
      {signIn.kind === "signed-in" || signIn.kind === "ended" ? (
        <Shell isEnded={signIn.kind === "ended"} />
      ) : isReference ? (
        <main id="main" className="signed-out-main">
          <Outlet />
        </main>
      ) : (
        <SignInPage state={signIn} />
      )}
      <Toasts />
    </TooltipProvider>
  );
}

function Shell({ isEnded }: { readonly isEnded: boolean }) {
  const [panel, setPanel] = useState<"palette" | "keys" | "projects">();
  const [isSidebarNarrow, setSidebarNarrow] = useState(
    () => localStorage.getItem(narrowSidebarKey) === "narrow",
  );
  const isNarrowWindow = useIsNarrowWindow();
  const toggleSidebar = (): void => {
    localStorage.setItem(narrowSidebarKey, isSidebarNarrow ? "wide" : "narrow");
    setSidebarNarrow(!isSidebarNarrow);
  };
  useShortcuts();
  useShellCommands({
    openPalette: () => setPanel("palette"),
    openKeys: () => setPanel("keys"),
    openProjects: () => setPanel("projects"),
    toggleSidebar,
  });
  const close = () => setPanel(undefined);
  const switcher = {
    isOpen: panel === "projects",
    onOpenChange: (isOpen: boolean) => setPanel(isOpen ? "projects" : undefined),
  };
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      {isNarrowWindow ? null : (
        <Sidebar switcher={switcher} isNarrow={isSidebarNarrow} onToggle={toggleSidebar} />
      )}
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
      {isNarrowWindow ? <BottomBar switcher={switcher} /> : null}
      <Palette isOpen={panel === "palette"} onClose={close} />
      <KeysDialog isOpen={panel === "keys"} onClose={close} />
      {isEnded ? <SignInAgain /> : null}
    </div>
  );
}

type ShellActs = Readonly<
  Record<"openPalette" | "openKeys" | "openProjects" | "toggleSidebar", () => void>
>;

function useShellCommands(acts: ShellActs): void {
  const navigate = useNavigate();
  const projectId = useNavigationProjectId();
  const { data: projects = [] } = useProjects();
  const pages = destinations.map(({ path, title, key }): Command => ({
    id: `go.${path}`,
    title,
    group: "Go to",
    keys: `g ${key}`,
    run: () => void navigate({ to: pageAddress(projectId ?? "", path) }),
  }));
  const others = projects.filter(({ id }) => id !== projectId);
  const switches = others.map(({ id, name, above }): Command => ({
    id: `project.${id}`,
    title: `Switch to ${name}`,
    group: "Project",
    words: above.join(" "),
    run: () => void navigate({ to: pageAddress(id, "traces") }),
  }));
  useCommands([
    {
      id: "go.reference",
      title: "API reference and docs",
      group: "Go to",
      keys: "g r",
      words: "openapi rest help",
      run: () => void navigate({ to: "/reference" }),
    },
    {
      ...general,
      id: "shell.palette",
      title: "Search commands",
      keys: "mod+k",
      isKeyOnly: true,
      run: acts.openPalette,
    },
    { ...general, id: "shell.keys", title: "Show the keys", keys: "?", run: acts.openKeys },
    {
      ...general,
      id: "shell.project",
      title: "Switch project",
      keys: "g o",
      run: acts.openProjects,
    },
    {
      ...general,
      id: "shell.sidebar",
      title: "Narrow or widen the sidebar",
      keys: "mod+b",
      run: acts.toggleSidebar,
    },
    { ...general, id: "theme.light", title: "Light theme", run: () => setTheme("light") },
    { ...general, id: "theme.dark", title: "Dark theme", run: () => setTheme("dark") },
    { ...general, id: "theme.system", title: "Theme of the system", run: () => setTheme("system") },
    { ...general, id: "shell.sign-out", title: "Sign out", run: () => void signOut() },
    ...(projectId === undefined ? [] : pages),
    ...switches,
  ]);
}

const general = { group: "General" } as const;
