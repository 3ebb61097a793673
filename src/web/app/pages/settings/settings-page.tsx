// Administration of everything above projects: the tree of scopes on the left, the settings of the
// chosen one on the right.

import { useNavigate } from "@tanstack/react-router";
import { Network } from "lucide-react";
import { EmptyState } from "../../design/states.tsx";
import { Page } from "../../shell/page.tsx";
import { Archived } from "./archived.tsx";
import { settingsRoute, type SettingsSearch } from "./route.tsx";
import { ScopeSettings } from "./scope-settings.tsx";
import { ScopeTree } from "./scope-tree.tsx";
import { isLevel } from "../../api/scope.ts";

const archivedMark = "archived:";

export function SettingsPage() {
  const { level, id, tab } = settingsRoute.useSearch();
  const navigate = useNavigate();
  const setSearch = (search: SettingsSearch) => void navigate({ to: "/app/settings", search });
  const scope = isLevel(level) && id !== undefined ? { level, id } : undefined;
  const workflowId = tab?.startsWith(archivedMark) ? tab.slice(archivedMark.length) : undefined;
  return (
    <Page title="Settings">
      <div className="settings">
        <ScopeTree
          chosen={scope}
          // The mark of an archival is about the scope that it was set for alone.
          onChoose={(next) =>
            setSearch({ ...next, ...(workflowId === undefined && tab !== undefined && { tab }) })
          }
        />
        <div className="settings-detail">
          {scope === undefined ? (
            <EmptyState icon={<Network />} title="Choose a scope">
              Organizations hold data planes, these hold workspaces, and these hold projects. Choose
              one to see its members, keys and providers.
            </EmptyState>
          ) : workflowId !== undefined ? (
            <Archived scope={scope} workflowId={workflowId} />
          ) : (
            <ScopeSettings
              key={scope.id}
              scope={scope}
              tab={tab}
              onTab={(next) => setSearch({ ...scope, tab: next })}
              onArchived={(archived) =>
                setSearch({
                  level: archived.scopeType,
                  id: archived.id,
                  tab: archivedMark + archived.workflowId,
                })
              }
            />
          )}
        </div>
      </div>
    </Page>
  );
}
