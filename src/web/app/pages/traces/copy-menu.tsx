// The question of the page to take along: as a curl command, as filters, as a link.

import { Braces, Link2, Share, Terminal } from "lucide-react";
import { IconButton } from "../../design/button.tsx";
import { Menu } from "../../design/menu.tsx";
import { showToast } from "../../design/toast.tsx";
import { copyText } from "../../design/values.tsx";
import { useCommands } from "../../shell/commands.ts";
import { formatCurl, formatFilters } from "./copy-as.ts";
import type { Question } from "./question.ts";

async function copy(text: string, what: string, done: string): Promise<void> {
  if (await copyText(text, what)) showToast({ text: done });
}

export function CopyMenu({ question }: { readonly question: Question }) {
  const { origin, href } = globalThis.location;
  const copyCurl = () =>
    void copy(formatCurl(origin, question), "command", "The curl command is copied.");
  const copyFilters = () =>
    void copy(formatFilters(question), "filters", "The filters are copied.");
  const copyLink = () => void copy(href, "link", "The link to this view is copied.");
  useCommands([
    { id: "traces.copy-curl", title: "Copy as curl", run: copyCurl },
    { id: "traces.copy-filters", title: "Copy as filters", run: copyFilters },
    { id: "traces.copy-link", title: "Copy link to this view", run: copyLink },
  ]);
  return (
    <Menu
      align="end"
      trigger={<IconButton label="Copy this view" icon={<Share />} size="small" />}
      items={[
        { label: "Copy link", icon: <Link2 />, onSelect: copyLink },
        { label: "Copy as curl", icon: <Terminal />, onSelect: copyCurl },
        { label: "Copy as filters", icon: <Braces />, onSelect: copyFilters },
      ]}
    />
  );
}
