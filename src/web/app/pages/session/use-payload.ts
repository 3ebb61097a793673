// Reads the payload of one event when it is looked at, and keeps it for half a minute only, since
// payloads may be megabytes.

import { useQuery } from "@tanstack/react-query";
import { type Event, EventService } from "../../../../../gen/waggle/v1/event_pb.js";
import { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { rpcKey } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";

export const payloadMethod = EventService.method.getEvent;
const keptMs = 30_000;

export function usePayload(eventId: string) {
  const projectId = useCurrentProjectId();
  return useQuery<Event, ApiError>({
    // The rpc's own key holds its whole answer, for `useRpc`.
    queryKey: [...rpcKey(payloadMethod, projectId, { eventId }), "payload"],
    queryFn: async ({ signal }) => {
      const { event } = await callRpc(payloadMethod, { eventId }, { projectId, signal });
      if (event) return event;
      throw new ApiError("The event is not there.", { errorCode: "NOT_FOUND", isTransient: false });
    },
    staleTime: keptMs,
    gcTime: keptMs,
    // Payloads are replaced as a whole; comparing megabytes would only cost time.
    structuralSharing: false,
  });
}
