"""Calls the service with code that grpcio-tools generated from proto/, and reports what it saw.

Run by test/clients/python-generated.test.ts: generated_client.py ADDRESS KEY
"""

import json
import sys

import grpc
from google.protobuf.json_format import MessageToDict
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from waggle.v1 import event_pb2, event_pb2_grpc
from waggle.v1 import export_pb2, export_pb2_grpc
from waggle.v1 import filter_pb2
from waggle.v1 import session_pb2, session_pb2_grpc
from waggle.v1 import session_start_pb2

address, key = sys.argv[1:]
channel = grpc.insecure_channel(address)
metadata = [("authorization", f"Bearer {key}")]
sessions = session_pb2_grpc.SessionServiceStub(channel)
events = event_pb2_grpc.EventServiceStub(channel)
exports = export_pb2_grpc.ExportServiceStub(channel)


def refusal(call, request, given_metadata):
    """The status of a call that must fail, with its ErrorInfo."""
    try:
        call(request, metadata=given_metadata, timeout=10)
    except grpc.RpcError as error:
        reasons = []
        for detail in rpc_status.from_call(error).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                reasons.append(info.reason)
        return {"code": error.code().name, "message": error.details(), "reasons": reasons}
    return {"code": "OK"}


def equals(field, value):
    condition = filter_pb2.Filter(field=field, operator="is")
    condition.value.string_value = value
    return condition


session = sessions.StartSession(
    session_pb2.StartSessionRequest(
        session=session_start_pb2.SessionStart(session_name="python", source="grpcio")
    ),
    metadata=metadata,
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
created = events.CreateEventBatch(batch, metadata=metadata)

request = export_pb2.ExportEventsRequest(
    filters=[equals("session_id", session.session_id)],
    projections=["event_name", "inputs", "start_time", "duration"],
)
page = exports.ExportEvents(request, metadata=metadata)
stream = list(exports.StreamEvents(export_pb2.StreamEventsRequest(), metadata=metadata))
tree = sessions.GetSessionTree(
    session_pb2.GetSessionTreeRequest(session_id=session.session_id), metadata=metadata
)

no_type = event_pb2.CreateEventRequest()
no_type.event.inputs.update({"question": "?"})
absent = event_pb2.GetEventRequest(event_id="absent")
report = {
    "session": MessageToDict(session, preserving_proto_field_name=True),
    "created": MessageToDict(created, preserving_proto_field_name=True),
    "page": MessageToDict(page, preserving_proto_field_name=True),
    "stream_ends": [item.WhichOneof("item") == "end" for item in stream],
    "stream_count": stream[-1].end.count,
    "tree_totals": MessageToDict(tree.totals, preserving_proto_field_name=True),
    "tree_children": [child.event_name for child in tree.children],
    "no_type": refusal(events.CreateEvent, no_type, metadata),
    "absent": refusal(events.GetEvent, absent, metadata),
    "no_key": refusal(events.GetEvent, absent, []),
}
print(json.dumps(report))
