// How pages read and change data: one hook for each kind of call. The project of the page's address
// goes out with each call by itself.
//
//   const answer = useRpc(SessionService.method.getSession, { sessionId });
//   const pages = useRpcPages(SessionService.method.listSessions, { filters });
//   const remove = useRpcMutation(SessionService.method.deleteSession, {
//     changes: [SessionService.method.listSessions],
//   });
//   remove.mutate({ sessionId });
//
// Import the service from gen/waggle/v1 in the page's own files, so that its descriptors load with
// the page. `error` of every answer is an ApiError; show it with `ErrorState`.

import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { ApiError } from "./errors.ts";
import { useProjectId } from "./project.ts";
import { callRpc } from "./transport.ts";

const staleMs = 10_000;
/** Time between two looks at a list or an item that other people, or other tabs, change. */
export const sharedRefreshMs = 30_000;
const retriesMax = 2;
const refusedRefreshMs = 30_000;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      // A service on this machine or in this network answers while the browser says it is offline.
      networkMode: "always",
      refetchOnReconnect: true,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < retriesMax && error instanceof ApiError && error.isTransient,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

export type RpcOptions = {
  /** False while the input is not complete. */
  readonly isEnabled?: boolean;
  /** Asks again after this time, as long as the page is seen. */
  readonly refreshMs?: number | false | undefined;
  /** Shows the answer to the previous input until the new one is there. */
  readonly keepsPrevious?: boolean;
  /** Time for which an answer counts as fresh; default 10 s. */
  readonly staleMs?: number;
};

/** Reads by one call. */
export function useRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  options: RpcOptions = {},
): UseQueryResult<MessageShape<O>, ApiError> {
  const projectId = useProjectId();
  return useQuery<MessageShape<O>, ApiError>({
    queryKey: rpcKey(method, projectId, input),
    queryFn: ({ signal }) => callRpc(method, input, { projectId, signal }),
    enabled: options.isEnabled ?? true,
    refetchInterval: ({ state }) => refreshMsAfter(state.error, options.refreshMs),
    ...(options.keepsPrevious === true && { placeholderData: keepPreviousData }),
    ...(options.staleMs !== undefined && { staleTime: options.staleMs }),
  });
}

/** A page of a list, with the cursor of the next one unless it is the last. */
type Page = { readonly nextCursor?: string | undefined };

/** Reads a list page by page; `fetchNextPage` reads on. The input must have a field `cursor`. */
export function useRpcPages<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: MessageInitShape<I>,
  options: RpcOptions = {},
): UseInfiniteQueryResult<InfiniteData<MessageShape<O>>, ApiError> {
  const projectId = useProjectId();
  return useInfiniteQuery<
    MessageShape<O>,
    ApiError,
    InfiniteData<MessageShape<O>>,
    readonly unknown[],
    string | undefined
  >({
    queryKey: [...rpcKey(method, projectId, input), "pages"],
    queryFn: ({ signal, pageParam }) =>
      callRpc(method, withCursor<I>(input, pageParam), { projectId, signal }),
    initialPageParam: undefined,
    getNextPageParam: (page) => (page as MessageShape<O> & Page).nextCursor,
    enabled: options.isEnabled ?? true,
    refetchInterval: ({ state }) => refreshMsAfter(state.error, options.refreshMs),
    ...(options.keepsPrevious === true && { placeholderData: keepPreviousData }),
    ...(options.staleMs !== undefined && { staleTime: options.staleMs }),
  });
}

/** A refusal, such as that a run has no execution, rarely changes: it is asked again less often. */
function refreshMsAfter(
  error: ApiError | null,
  refreshMs: number | false | undefined = false,
): number | false {
  if (refreshMs === false || !error || error.isTransient) return refreshMs;
  return Math.max(refreshMs, refusedRefreshMs);
}

/**
 * Returns the props of a table that reads the next page near its end: none after a failure, which
 * would be asked for again and again.
 */
export function useMore({ error, fetchNextPage, hasNextPage, isFetchingNextPage }: Pages) {
  const onMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return {
    onMore: hasNextPage && !error ? onMore : undefined,
    isLoadingMore: isFetchingNextPage,
  };
}

type Pages = Pick<
  UseInfiniteQueryResult<unknown, ApiError>,
  "error" | "fetchNextPage" | "hasNextPage" | "isFetchingNextPage"
>;

function withCursor<I extends DescMessage>(
  input: MessageInitShape<I>,
  cursor: string | undefined,
): MessageInitShape<I> {
  return cursor === undefined ? input : { ...input, cursor };
}

export type RpcMutationOptions<O extends DescMessage> = {
  /** Rpcs whose answers the change makes old; they are asked again where they are shown. */
  readonly changes?: readonly AnyMethod[];
  /** Called before the old answers are asked again, which may begin a form anew. */
  readonly onStored?: () => void;
  readonly onDone?: (answer: MessageShape<O>) => void;
  /** Lets the call go on when its tab closes. */
  readonly outlivesPage?: boolean;
};

/** Any rpc, as a key of its answers. */
export type AnyMethod = Pick<DescMethodUnary, "name" | "parent">;

/** Changes by one call. `mutate` keeps the input as `variables`, so an error loses nothing. */
export function useRpcMutation<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  { changes = [], onStored, onDone, outlivesPage }: RpcMutationOptions<O> = {},
) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useChange<MessageShape<O>, MessageInitShape<I>>({
    mutationFn: (input) => callRpc(method, input, { projectId, outlivesPage }),
    onSuccess: async (answer) => {
      onStored?.();
      await renewAnswers(client, changes);
      onDone?.(answer);
    },
  });
}

type ChangeOptions<A, I> = {
  readonly mutationFn: (input: I) => Promise<A>;
  readonly onSuccess: (answer: A) => unknown;
};

/**
 * Changes by several calls. The second click of a double click may come before the button shows
 * that it is busy: a change with the input of the one under way is left out.
 */
export function useChange<A, I>(options: ChangeOptions<A, I>) {
  const sent = useRef<string>(undefined);
  const onSettled = (): void => {
    sent.current = undefined;
  };
  const mutation = useMutation<A, ApiError, I>({ ...options, onSettled });
  const { mutate: send } = mutation;
  const mutate: typeof send = useCallback(
    (...call) => {
      const key = toKey(call[0]);
      if (sent.current === key) return;
      sent.current = key;
      send(...call);
    },
    [send],
  );
  return { ...mutation, mutate };
}

/** Returns an input as text; times in it have large integers, which JSON does not know. */
function toKey(input: unknown): string {
  const toText = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);
  return JSON.stringify([input], toText);
}

/** Asks rpcs again whose answers are old, where they are shown. */
export async function renewAnswers(client: QueryClient, methods: readonly AnyMethod[]) {
  const keys = methods.map(({ parent, name }) => [parent.typeName, name]);
  await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
}

/** Returns the key under which an answer is kept: service, rpc, project, input. */
export function rpcKey(
  { parent, name }: AnyMethod,
  projectId: string | undefined,
  input: unknown,
): readonly unknown[] {
  return [parent.typeName, name, projectId ?? null, input];
}
