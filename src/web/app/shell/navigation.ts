// The pages of a project in the order of the sidebar; one entry makes the link, the command and the
// key.

import {
  Bell,
  ChartNoAxesCombined,
  Database,
  FlaskConical,
  Gauge,
  ListChecks,
  type LucideIcon,
  MessageSquareText,
  Play,
  Settings,
  Waypoints,
} from "lucide-react";

export type Destination = {
  /** Last part of the address: `/app/p/<project_id>/<path>`. */
  readonly path: string;
  readonly title: string;
  readonly icon: LucideIcon;
  /** Pressed after `g`. */
  readonly key: string;
  /** Shown in the bottom bar of narrow windows. */
  readonly isMain?: boolean;
};

export const destinations: readonly Destination[] = [
  { path: "traces", title: "Traces", icon: Waypoints, key: "t", isMain: true },
  { path: "charts", title: "Charts", icon: ChartNoAxesCombined, key: "c", isMain: true },
  { path: "alerts", title: "Alerts", icon: Bell, key: "a" },
  { path: "evaluators", title: "Evaluators", icon: Gauge, key: "e", isMain: true },
  { path: "experiments", title: "Experiments", icon: FlaskConical, key: "x", isMain: true },
  { path: "datasets", title: "Datasets", icon: Database, key: "d" },
  { path: "queues", title: "Queues", icon: ListChecks, key: "q" },
  { path: "prompts", title: "Prompts", icon: MessageSquareText, key: "p" },
  { path: "playground", title: "Playground", icon: Play, key: "l" },
  { path: "settings", title: "Settings", icon: Settings, key: "s" },
];
