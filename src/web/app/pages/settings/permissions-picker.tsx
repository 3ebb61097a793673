// Picks permissions by searching the names that this service knows; patterns such as
// `project.event.*` may be typed.

import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { ApiKeyService } from "../../../../../gen/waggle/v1/api_key_pb.js";
import { useRpc } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { Combobox } from "../../design/combobox.tsx";
import { permissionGroups, permissionsOf } from "./permission-names.ts";

export type PermissionsPickerProps = {
  readonly label: string;
  readonly value: readonly string[];
  readonly onChange: (permissions: readonly string[]) => void;
  /** Organization whose policy is shown beside it. */
  readonly orgId?: string | undefined;
};

export function PermissionsPicker({ label, value, onChange, orgId }: PermissionsPickerProps) {
  const { data: names = [] } = usePermissionNames();
  const policy = useRpc(
    ApiKeyService.method.getApiKeyPolicy,
    { orgId: orgId ?? "" },
    { isEnabled: orgId !== undefined },
  ).data?.data;
  const limits = (policy?.permissions ?? []).filter((permission) => permission !== "*");
  const options = [...permissionGroups(names), ...names]
    .filter((name) => !value.includes(name))
    .map((name) => ({ value: name, label: name }));
  return (
    <fieldset className="permissions">
      <legend>{label}</legend>
      <ul>
        {value.map((name) => (
          <li key={name}>
            <code>{name}</code>
            <IconButton
              size="small"
              label={`Remove ${name}`}
              icon={<X />}
              onClick={() => onChange(value.filter((one) => one !== name))}
            />
          </li>
        ))}
        <li>
          <Combobox
            label="Permissions"
            placeholder="Find or type a permission…"
            isOpenEnded
            options={options}
            onChange={(name) => onChange([...new Set([...value, name])])}
            trigger={
              <Button size="small" icon={<Plus />}>
                Add permission
              </Button>
            }
          />
        </li>
      </ul>
      {limits.length === 0 ? null : (
        <p className="settings-note">The policy of the organization leaves: {limits.join(", ")}.</p>
      )}
    </fieldset>
  );
}

/** Reads the names from the description of the API, which says what each call requires. */
function usePermissionNames() {
  return useQuery({
    queryKey: ["permission-names"],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      // oxlint-disable-next-line no-restricted-globals -- a file of this service, not an rpc
      const answer = await fetch("/openapi.json", { signal });
      return permissionsOf(await answer.json());
    },
  });
}
