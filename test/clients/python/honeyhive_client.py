"""honeyhive 1.7.0 as its users write it: a tracer, decorated functions, enrichment, and its client.

Run by test/clients/honeyhive-python.test.ts: honeyhive_client.py URL API_KEY INGESTION_KEY
"""

import json
import logging
import sys
import time
import warnings

logged = []


class Keep(logging.Handler):
    def emit(self, record):
        logged.append(f"{record.levelname} {record.name}: {record.getMessage()}")


logging.getLogger().addHandler(Keep(logging.WARNING))
warnings.simplefilter("ignore", DeprecationWarning)

from honeyhive import HoneyHive, HoneyHiveTracer, enrich_span, trace  # noqa: E402
from honeyhive.models import (  # noqa: E402
    EventFilter,
    PostEventBatchRequest,
    PostEventRequest,
    StartSessionRequest,
    UpdateEventRequest,
)

url, api_key, ingestion_key = sys.argv[1:]
tracer = HoneyHiveTracer.init(
    api_key=api_key,
    ingestion_api_key=ingestion_key,
    server_url=url,
    project="an old name",
    source="honeyhive-python",
    session_name="trip",
    inputs={"question": "Where to?"},
)
session_id = tracer.session_id


@trace(event_type="tool", event_name="get_weather", tracer=tracer)
def get_weather(city):
    enrich_span(metadata={"cached": False}, metrics={"score": 0.5})
    return {"city": city, "celsius": 18}


@trace(event_type="chain", tracer=tracer)
def plan(city, days):
    tracer.enrich_span(
        config={"temperature": 0.2},
        feedback={"rating": 5},
        user_properties={"plan": "pro"},
    )
    return get_weather(city)


@trace(event_type="tool", tracer=tracer)
def broken():
    raise ValueError("no weather today")


plan("Paris", 3)
try:
    broken()
except ValueError:
    pass
tracer.enrich_session(metadata={"first": 1}, metrics={"quality": 0.9})
tracer.enrich_session(
    metadata={"second": 2},
    feedback={"ground_truth": "Lyon"},
    outputs={"answer": "Paris"},
    user_properties={"user": "ada"},
)
created_id = tracer.create_event(
    "lookup",
    event_type="tool",
    inputs={"key": "k"},
    outputs={"value": 1},
    duration=12.5,
    metadata={"via": "create_event"},
)
flushed = tracer.force_flush()

client = HoneyHive(api_key=api_key, base_url=url, timeout=60)
started = client.sessions.start(
    StartSessionRequest(session={"session_name": "by client", "source": "honeyhive-python"})
)
now_ms = int(time.time() * 1000)
posted = client.events.create(
    PostEventRequest(
        event={
            "project": "an old name",
            "source": "honeyhive-python",
            "event_name": "answer",
            "event_type": "model",
            "session_id": started.session_id,
            "config": {"model": "gpt-4o", "provider": "openai"},
            "inputs": {"chat_history": [{"role": "user", "content": "hi"}]},
            "outputs": {"role": "assistant", "content": "hello"},
            "start_time": now_ms,
            "end_time": now_ms + 250,
            "duration": 250,
            "metadata": {"prompt_tokens": 3, "completion_tokens": "4", "total_tokens": 7},
        }
    )
)
client.events.update(
    UpdateEventRequest(
        event_id=posted.event_id, feedback={"rating": 1}, outputs={"content": "hello!"}
    )
)
batch = client.events.create_batch(
    PostEventBatchRequest(
        is_single_session=True,
        session_properties={"session_name": "batched", "source": "honeyhive-python"},
        events=[
            {"event_type": "tool", "event_name": name, "inputs": {}, "source": "honeyhive-python"}
            for name in ("one", "two")
        ],
    )
)


def export(of_session):
    condition = EventFilter(field="session_id", operator="is", value=of_session, type="string")
    return client.events.export(filters=[condition])


exported = export(session_id)
listed = client.events.list(
    {
        "filters": [
            {"field": "session_id", "operator": "is", "value": started.session_id, "type": "id"}
        ],
        "limit": 10,
    }
)
in_order = client.events.get_by_session_id(batch.session_id)


def plain(event):
    return event if isinstance(event, dict) else event.model_dump()


tracer.shutdown()
report = {
    "session_id": session_id,
    "flushed": flushed,
    "created_id": created_id,
    "posted_id": posted.event_id,
    "started": started.model_dump(),
    "batch": batch.model_dump(),
    "exported": [plain(event) for event in exported.events],
    "exported_total": exported.total_events,
    "listed": [plain(event) for event in listed.events],
    "in_order": [plain(event)["event_name"] for event in in_order.events],
    "logged": logged,
}
print()
print(json.dumps(report, default=str))
