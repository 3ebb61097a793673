"""Sends events that the stand-in refuses and reports how each call ended.

Run by test/clients/python-client.test.ts: waggle_outcomes.py URL CUT_URL KEY ID…
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
import waggle
from waggle.v1 import event_pb2, event_pb2_grpc, export_pb2, export_pb2_grpc

url, cut_url, key, *ids = sys.argv[1:]
channel = waggle.connect(url, key)
events = event_pb2_grpc.EventServiceStub(channel)
cut_events = event_pb2_grpc.EventServiceStub(waggle.connect(cut_url, key))
keys = {"own-key": "mine", "no-key": ""}


def send(event_id):
    if event_id == "read":
        return events.GetEvent(event_pb2.GetEventRequest(event_id=event_id))
    if event_id == "stream":
        return list(export_pb2_grpc.ExportServiceStub(channel).StreamEvents(export_pb2.StreamEventsRequest()))
    stub = cut_events if event_id == "cut" else events
    event = event_pb2.Event(event_id=event_id, event_type="tool")
    request = event_pb2.CreateEventRequest(event=event)
    if event_id == "again":
        stub.CreateEvent(request)
    return stub.CreateEvent(
        request,
        timeout=0.5 if event_id == "slow" else None,
        metadata=[("idempotency-key", keys[event_id])] if event_id in keys else None,
    )


def outcome_of(event_id):
    try:
        send(event_id)
        return "ok"
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            return "deadline"
        return waggle.reason_of(error) or repr(error)


with ThreadPoolExecutor(len(ids)) as pool:
    print(json.dumps(dict(zip(ids, pool.map(outcome_of, ids)))))
