// TypeIcon: the sign of an event's type, with its word for those who do not see it.

import { Link2, type LucideIcon, Sparkles, Waypoints, Wrench } from "lucide-react";
import "./type-icon.css";

const icons: Readonly<Record<string, LucideIcon>> = {
  model: Sparkles,
  tool: Wrench,
  chain: Link2,
  session: Waypoints,
};

export function TypeIcon({ type }: { readonly type: string }) {
  const Icon = icons[type] ?? Link2;
  return (
    <span className="type-icon" data-type={type} title={type}>
      <Icon aria-hidden />
      <span className="visually-hidden">{type}</span>
    </span>
  );
}
