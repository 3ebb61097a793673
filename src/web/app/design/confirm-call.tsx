// ConfirmCall: a dialog that confirms one call, such as a deletion, and makes it.

import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { type RpcMutationOptions, useRpcMutation } from "../api/query.ts";
import { ConfirmDialog, type ConfirmDialogProps } from "./overlay.tsx";

export type ConfirmCallProps<I extends DescMessage, O extends DescMessage> = Omit<
  ConfirmDialogProps,
  "change" | "onConfirm"
> &
  Pick<RpcMutationOptions<O>, "changes"> & {
    /** Default `onClose`. */
    readonly onDone?: RpcMutationOptions<O>["onDone"];
    readonly method: DescMethodUnary<I, O>;
    readonly input: MessageInitShape<I>;
  };

export function ConfirmCall<I extends DescMessage, O extends DescMessage>(
  props: ConfirmCallProps<I, O>,
) {
  const { method, input, changes, onDone = props.onClose, ...dialog } = props;
  const change = useRpcMutation(method, { changes, onDone });
  return <ConfirmDialog {...dialog} change={change} onConfirm={() => change.mutate(input)} />;
}
