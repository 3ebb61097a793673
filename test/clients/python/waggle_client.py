"""Calls the service through the client of clients/python, and reports what it saw.

Run by test/clients/python-client.test.ts: waggle_client.py URL KEY
"""

import json
import sys

import grpc
import waggle
from google.protobuf.json_format import MessageToDict
from waggle.v1 import event_pb2, event_pb2_grpc
from waggle.v1 import export_pb2, export_pb2_grpc
from waggle.v1 import session_pb2, session_pb2_grpc
from waggle.v1 import session_start_pb2

url, key = sys.argv[1:]
channel = waggle.connect(url, key)
sessions = session_pb2_grpc.SessionServiceStub(channel)
events = event_pb2_grpc.EventServiceStub(channel)
exports = export_pb2_grpc.ExportServiceStub(channel)


def refusal(call, request):
    """The status of a call that must fail, with its reason."""
    try:
        call(request)
    except grpc.RpcError as error:
        reason = waggle.reason_of(error)
        return {"code": error.code().name, "message": error.details(), "reason": reason}
    return {"code": "OK"}


session = sessions.StartSession(
    session_pb2.StartSessionRequest(
        session=session_start_pb2.SessionStart(session_name="python", source="grpcio")
    )
)

batch = event_pb2.CreateEventBatchRequest()
for index, event_type in enumerate(["model", "tool", "walk"]):
    event = batch.events.add(
        session_id=session.session_id,
        event_name=f"step {index}",
        event_type=event_type,
        source="grpcio",
        start_time=1_700_000_000_000 + index,
        duration=1.5,
    )
    event.inputs.update({"index": index, "nested": {"list": [1, "two", None, True]}})
    event.metadata.update({"total_tokens": 10})
created = events.CreateEventBatch(batch)

filters = [waggle.where("session_id", "is", session.session_id)]
request = export_pb2.ExportEventsRequest(
    filters=filters,
    projections=["event_name", "inputs", "start_time", "duration"],
)
page = exports.ExportEvents(request)
paged = export_pb2.ExportEventsRequest(filters=filters, limit=1, page=2)
stream = list(exports.StreamEvents(export_pb2.StreamEventsRequest(filters=filters)))
tree = sessions.GetSessionTree(
    session_pb2.GetSessionTreeRequest(session_id=session.session_id)
)

no_type = event_pb2.CreateEventRequest()
no_type.event.inputs.update({"question": "?"})
keyless = event_pb2_grpc.EventServiceStub(grpc.insecure_channel(url.removeprefix("http://")))
absent = event_pb2.GetEventRequest(event_id="absent")
report = {
    "session": MessageToDict(session, preserving_proto_field_name=True),
    "created": MessageToDict(created, preserving_proto_field_name=True),
    "page": MessageToDict(page, preserving_proto_field_name=True),
    "second_and_later": [
        event.event_id
        for page in waggle.pages(exports.ExportEvents, paged)
        for event in page.events
    ],
    "nulls": [
        len(exports.ExportEvents(export_pb2.ExportEventsRequest(filters=found)).events)
        for found in (
            [*filters, waggle.where("error", "is", None)],
            [*filters, waggle.where("error", "is not", None)],
        )
    ],
    "stream_ends": [item.WhichOneof("item") == "end" for item in stream],
    "stream_count": stream[-1].end.count,
    "tree_totals": MessageToDict(tree.totals, preserving_proto_field_name=True),
    "tree_children": [child.event_name for child in tree.children],
    "no_type": refusal(events.CreateEvent, no_type),
    "absent": refusal(events.GetEvent, absent),
    "no_key": refusal(keyless.GetEvent, absent),
}
print(json.dumps(report))
