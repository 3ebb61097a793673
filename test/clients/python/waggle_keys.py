"""Connects with keys and reports which of them read an event, or why one is refused.

Run by test/clients/python-client.test.ts: waggle_keys.py URL KEY…
"""

import json
import sys

import waggle
from waggle.v1 import event_pb2, event_pb2_grpc

url, *keys = sys.argv[1:]


def outcome_of(key):
    try:
        channel = waggle.connect(url, key)
    except ValueError as error:
        return str(error)
    event_pb2_grpc.EventServiceStub(channel).GetEvent(event_pb2.GetEventRequest(event_id="stored"))
    return "ok"


# None: what os.environ.get returns for a variable that is not set.
print(json.dumps([outcome_of(key) for key in [*keys, None]]))
