// useLayout: the tiles of a dashboard while they are arranged. A layout is stored as a whole, so a
// change is refused where the dashboard has another layout by then than the one that was changed.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import { type Dashboard, DashboardService } from "../../../../../gen/waggle/v1/dashboard_pb.js";
import { ApiError } from "../../api/errors.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { renewAnswers } from "../../api/query.ts";
import { callRpc } from "../../api/transport.ts";
import { type Tile, toLayout, toTiles } from "./layout.ts";

const settleMs = 600;
const { getDashboard, updateDashboard, listDashboards } = DashboardService.method;

/** Keeps the tiles of a dashboard. Changes are saved once they settle, at the latest on leaving. */
export function useLayout(dashboard: Dashboard, isArranging: boolean) {
  const projectId = useCurrentProjectId();
  const client = useQueryClient();
  const dashboardId = dashboard.id;
  const stored = toTiles(dashboard.layout);
  /** Set until the list has what was saved. */
  const [changed, setChanged] = useState<readonly Tile[]>();
  const unsaved = useRef<readonly Tile[]>(undefined);
  /** The stored tiles that were changed. */
  const base = useRef<readonly Tile[]>(undefined);

  const send = async (): Promise<void> => {
    const next = unsaved.current;
    if (!next) return;
    unsaved.current = undefined;
    const layout = toLayout(next);
    const input = { dashboardId, dashboard: { layout } };
    try {
      await callRpc(updateDashboard, input, { projectId, outlivesPage: true });
    } catch (failure) {
      // It is saved by the next try, unless the person has changed it again.
      unsaved.current ??= next;
      throw failure;
    }
    base.current = toTiles(layout);
  };
  const { mutate, error } = useMutation<void, ApiError>({
    // One after the other, so that a save sees what the one before has stored.
    scope: { id: `layout ${dashboardId}` },
    mutationFn: async () => {
      if (!unsaved.current) return;
      const { data } = await callRpc(getDashboard, { dashboardId }, { projectId });
      if (!isSame(toTiles(data?.layout), base.current)) throw changedElsewhere();
      await send();
    },
    onError: async ({ errorCode }) => {
      if (errorCode !== changedCode) return;
      unsaved.current = undefined;
      // The other layout may have a chart that is newer than the list of charts.
      await renewAnswers(client, [listDashboards, ChartService.method.listCharts]);
      setChanged(undefined);
    },
    onSuccess: async () => {
      await renewAnswers(client, [listDashboards]);
      if (!unsaved.current) setChanged(undefined);
    },
  });
  const sendNow = useRef(send);
  useEffect(() => {
    sendNow.current = send;
  });
  useEffect(() => {
    const timer = setTimeout(() => unsaved.current && mutate(), settleMs);
    return () => clearTimeout(timer);
  }, [changed, mutate]);
  useEffect(() => {
    if (!isArranging && unsaved.current) mutate();
  }, [isArranging, mutate]);
  useEffect(() => {
    // A tab that closes waits for no answer.
    const onClose = (): void => void sendNow.current();
    addEventListener("pagehide", onClose);
    return () => {
      removeEventListener("pagehide", onClose);
      if (unsaved.current) mutate();
    };
  }, [mutate]);
  const setTiles = (tiles: readonly Tile[]): void => {
    if (!changed) base.current = stored;
    unsaved.current = tiles;
    setChanged(tiles);
  };
  const isRefused = error?.errorCode === changedCode;
  return {
    tiles: changed ?? stored,
    setTiles,
    error,
    /** Saves again what could not be saved; absent where the change was given up. */
    ...(!isRefused && { retry: () => mutate() }),
  };
}

const changedCode = "CHANGED_ELSEWHERE";

function changedElsewhere(): ApiError {
  return new ApiError("The dashboard was changed elsewhere, so your last change was not saved.", {
    errorCode: changedCode,
    isTransient: false,
  });
}

function isSame(left: readonly Tile[], right: readonly Tile[] | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
