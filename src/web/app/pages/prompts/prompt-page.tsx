// One prompt: its editor, its versions, and how programs call it.

import { Link, useNavigate } from "@tanstack/react-router";
import { Play, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  type Configuration,
  ConfigurationService,
} from "../../../../../gen/waggle/v1/configuration_pb.js";
import { GenerationService } from "../../../../../gen/waggle/v1/generation_pb.js";
import { pageAddress } from "../../api/project.ts";
import { useRpc } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { ConfirmCall } from "../../design/confirm-call.tsx";
import { ReadState } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { useMay } from "../../session/use-may.ts";
import { Crumbs } from "../../shell/crumbs.tsx";
import { Page } from "../../shell/page.tsx";
import { useSearchChange } from "../../shell/search.ts";
import { PromptEditor } from "./prompt-editor.tsx";
import { PromptUse } from "./prompt-use.tsx";
import { PromptVersions } from "./prompt-versions.tsx";
import { promptRoute, type PromptSearch } from "./route.tsx";
import "../../design/layout.css";
import "./prompts.css";

export function PromptPage() {
  const { promptId } = promptRoute.useParams();
  const answer = useRpc(ConfigurationService.method.getConfiguration, {
    id: promptId,
  });
  const { data } = answer;
  if (data) return <PromptContentPage key={promptId} prompt={data} />;
  return (
    <Page title="Prompt" breadcrumb={<Crumbs list="prompts" name="Prompt" />}>
      <ReadState read={answer} what="Loading the prompt" />
    </Page>
  );
}

function PromptContentPage({ prompt }: { readonly prompt: Configuration }) {
  const { projectId } = promptRoute.useParams();
  const { tab } = promptRoute.useSearch();
  const setSearch = useSearchChange<PromptSearch>();
  const may = useMay();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Page
      title={prompt.name}
      breadcrumb={<Crumbs list="prompts" name={prompt.name} />}
      actions={
        <>
          {may(GenerationService.method.streamChat) ? (
            <Button asChild size="small" icon={<Play />}>
              <Link
                to={pageAddress(projectId, "playground")}
                search={{ prompt: prompt.id } as never}
              >
                Open in playground
              </Link>
            </Button>
          ) : null}
          {may(ConfigurationService.method.deleteConfiguration) ? (
            <IconButton
              size="small"
              label="Delete prompt"
              icon={<Trash2 />}
              onClick={() => setDeleting(true)}
            />
          ) : null}
        </>
      }
    >
      <div className="scroll prompt-page">
        <Tabs
          label="Views of the prompt"
          value={tab ?? "edit"}
          onChange={(next) =>
            setSearch({ tab: next === "versions" || next === "use" ? next : undefined })
          }
          tabs={[
            { value: "edit", label: "Editor", content: <PromptEditor prompt={prompt} /> },
            { value: "versions", label: "Versions", content: <PromptVersions prompt={prompt} /> },
            { value: "use", label: "Use", content: <PromptUse prompt={prompt} /> },
          ]}
        />
      </div>
      {isDeleting ? (
        <ConfirmCall
          onClose={() => setDeleting(false)}
          title="Delete this prompt?"
          description="Programs that call it fail from now on. Recorded events keep its id and
            version."
          action="Delete prompt"
          busyLabel="Deleting"
          typedName={prompt.name}
          method={ConfigurationService.method.deleteConfiguration}
          input={{ id: prompt.id }}
          changes={[ConfigurationService.method.listConfigurations]}
          onDone={() => void navigate({ to: "/app/p/$projectId/prompts", params: { projectId } })}
        />
      ) : null}
    </Page>
  );
}
