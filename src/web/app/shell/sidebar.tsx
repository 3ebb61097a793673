// The sidebar: project, pages, and at its foot the person and the look. Narrow windows have a
// bottom bar with the main pages, and the rest in a drawer.

import { Link } from "@tanstack/react-router";
import {
  BookOpen,
  CircleHelp,
  CircleUser,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  PanelLeftClose,
  PanelLeftOpen,
  Search,
  Sun,
} from "lucide-react";
import { useState } from "react";
import { pageAddress } from "../api/project.ts";
import { IconButton } from "../design/button.tsx";
import { Keys } from "../design/keys.tsx";
import { Menu } from "../design/menu.tsx";
import { Drawer } from "../design/overlay.tsx";
import { Tooltip } from "../design/tooltip.tsx";
import { signOut, useSignIn } from "../session/sign-in-state.ts";
import { runCommand } from "./commands.ts";
import { type Destination, destinations } from "./navigation.ts";
import { ProjectSwitcher, type ProjectSwitcherProps } from "./project-switcher.tsx";
import { useNavigationProjectId } from "./projects.ts";
import { setTheme, useTheme } from "./theme.ts";

export type SidebarProps = {
  readonly switcher: ProjectSwitcherProps;
  readonly isNarrow: boolean;
  readonly onToggle: () => void;
};

export function Sidebar({ switcher, isNarrow, onToggle }: SidebarProps) {
  return (
    <aside className="sidebar" data-narrow={isNarrow}>
      <ProjectSwitcher {...switcher} />
      <button type="button" className="sidebar-search" onClick={() => runCommand("shell.palette")}>
        <Search aria-hidden />
        <span>Search</span>
        <Keys keys="mod+k" />
      </button>
      <Pages isNarrow={isNarrow} />
      <div className="sidebar-foot">
        <PersonMenu />
        <ThemeMenu />
        <IconButton
          label={isNarrow ? "Widen the sidebar" : "Narrow the sidebar"}
          keys="mod+b"
          icon={isNarrow ? <PanelLeftOpen /> : <PanelLeftClose />}
          onClick={onToggle}
        />
      </div>
    </aside>
  );
}

type PagesProps = { readonly isNarrow?: boolean; readonly onFollow?: () => void };

function Pages({ isNarrow = false, onFollow }: PagesProps) {
  return (
    <nav className="sidebar-pages" aria-label="Pages">
      {destinations.map((destination) => (
        <PageLink
          key={destination.path}
          destination={destination}
          isNarrow={isNarrow}
          onFollow={onFollow}
        />
      ))}
    </nav>
  );
}

type PageLinkProps = {
  readonly destination: Destination;
  readonly isNarrow?: boolean;
  readonly onFollow?: (() => void) | undefined;
};

function PageLink({ destination, isNarrow = false, onFollow }: PageLinkProps) {
  const { path, title, icon: Icon, key } = destination;
  const projectId = useNavigationProjectId();
  if (projectId === undefined) return null;
  const link = (
    <Link
      to={pageAddress(projectId, path)}
      className="page-link"
      aria-label={title}
      {...(onFollow && { onClick: onFollow })}
    >
      <Icon aria-hidden />
      <span>{title}</span>
    </Link>
  );
  if (!isNarrow) return link;
  return (
    <Tooltip text={title} keys={`g ${key}`} side="right">
      {link}
    </Tooltip>
  );
}

function PersonMenu() {
  const signIn = useSignIn();
  if (!("me" in signIn)) return null;
  return (
    <Menu
      side="top"
      trigger={<IconButton label="Your account" icon={<CircleUser />} />}
      items={[
        { heading: signIn.me.email ?? signIn.me.name },
        {
          label: "Keys",
          icon: <CircleHelp />,
          keys: "?",
          onSelect: () => runCommand("shell.keys"),
        },
        {
          label: "API reference and docs",
          icon: <BookOpen />,
          keys: "g r",
          onSelect: () => runCommand("go.reference"),
        },
        "line",
        { label: "Sign out", icon: <LogOut />, onSelect: () => void signOut() },
      ]}
    />
  );
}

function ThemeMenu() {
  const theme = useTheme();
  const icons = { system: <Monitor />, light: <Sun />, dark: <Moon /> };
  const labels = { system: "As the system", light: "Light", dark: "Dark" };
  return (
    <Menu
      side="top"
      trigger={<IconButton label="Light or dark" icon={icons[theme]} />}
      items={(["system", "light", "dark"] as const).map((value) => ({
        label: labels[value],
        icon: icons[value],
        isChecked: value === theme,
        onSelect: () => setTheme(value),
      }))}
    />
  );
}

/** The bar at the bottom of narrow windows. */
export function BottomBar({ switcher }: Pick<SidebarProps, "switcher">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <nav className="bottom-bar" aria-label="Main pages">
      {destinations
        .filter(({ isMain }) => isMain === true)
        .map((destination) => (
          <PageLink key={destination.path} destination={destination} />
        ))}
      <button type="button" className="page-link" onClick={() => setOpen(true)}>
        <MenuIcon aria-hidden />
        <span>More</span>
      </button>
      <Drawer isOpen={isOpen} onClose={() => setOpen(false)} title="Waggle" side="left">
        <div className="drawer-pages">
          <ProjectSwitcher {...switcher} />
          <Pages onFollow={() => setOpen(false)} />
          <div className="sidebar-foot">
            <PersonMenu />
            <ThemeMenu />
          </div>
        </div>
      </Drawer>
    </nav>
  );
}
