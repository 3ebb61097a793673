// Settings of the project in the address.

import { Link, useNavigate } from "@tanstack/react-router";
import { Building2 } from "lucide-react";
import { useCurrentProjectId } from "../../api/project.ts";
import { Button } from "../../design/button.tsx";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { projectSettingsRoute } from "./route.tsx";
import { ScopeSettings } from "./scope-settings.tsx";

export function ProjectSettingsPage() {
  const projectId = useCurrentProjectId();
  const { tab } = projectSettingsRoute.useSearch();
  const navigate = useNavigate();
  const open = () => void navigate({ to: "/app/settings" });
  useCommands([{ id: "settings.all", title: "Organizations and workspaces", run: open }]);
  return (
    <Page
      title="Project settings"
      layout="read"
      actions={
        <Button asChild>
          <Link to="/app/settings">
            <Building2 aria-hidden /> All scopes
          </Link>
        </Button>
      }
    >
      <ScopeSettings
        scope={{ level: "project", id: projectId }}
        tab={tab}
        onTab={(next) => void navigate({ to: ".", search: { tab: next } })}
        onArchived={({ id, scopeType, workflowId }) =>
          void navigate({
            to: "/app/settings",
            search: { level: scopeType, id, tab: `archived:${workflowId}` },
          })
        }
      />
    </Page>
  );
}
