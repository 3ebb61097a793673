"""Every public method of honeyhive 1.7.0's client: own names, older names, and asynchronous ones.

Run by test/clients/honeyhive-methods.test.ts: honeyhive_methods.py URL API_KEY
"""

import asyncio
import inspect
import json
import sys
import uuid
import warnings

warnings.simplefilter("ignore")

from honeyhive import HoneyHive  # noqa: E402
from honeyhive.models import (  # noqa: E402
    AddDatapointsToDatasetRequest,
    CreateChartRequest,
    CreateConfigurationRequest,
    CreateDatapointRequest,
    CreateDatasetRequest,
    CreateMetricRequest,
    CreateMetricVersionRequest,
    EventFilter,
    PostEventBatchRequest,
    PostEventRequest,
    PostExperimentRunRequest,
    PutExperimentRunRequest,
    StartSessionRequest,
    UpdateChartRequest,
    UpdateConfigurationRequest,
    UpdateDatapointRequest,
    UpdateDatasetRequest,
    UpdateEventRequest,
    UpdateMetricRequest,
)

url, api_key = sys.argv[1:]
# The default of 5 s is short where other tests take the processor.
client = HoneyHive(api_key=api_key, server_url=url, timeout=60)
called = {}
faults = []


def call(api, name, *words, **named):
    """Calls a method, and says which one failed and why."""
    called.setdefault(api, set()).add(name)
    try:
        answer = getattr(getattr(client, api), name)(*words, **named)
        return asyncio.run(answer) if inspect.isawaitable(answer) else answer
    except Exception as error:
        faults.append(f"{api}.{name}: {type(error).__name__} {error}"[:500])
        return None


def check(api, name, holds):
    if not holds:
        faults.append(f"{api}.{name}: another answer than expected")


def styles(api, **words):
    """Yields the names of the methods for each word, in each of the client's three styles."""
    kind = {"configurations": "configuration", "datapoints": "datapoint"}
    kind |= {"datasets": "dataset", "metrics": "metric"}
    yield {word: word for word in words}
    yield {word: f"{word}_async" for word in words}
    one = kind[api]
    older = {word: f"{word}_{one}" for word in words}
    older["list"] = f"list_{one}s"
    yield older


def unique(text):
    return f"{text} {uuid.uuid4()}"


# Configurations: the client's own suite gives each a new name.
settings = {"call_type": "chat", "model": "gpt-4", "hyperparameters": {"temperature": 0.5}}
for names in styles("configurations", create=0, list=0, update=0, delete=0):
    fields = {"name": unique("c"), "provider": "openai", "parameters": settings}
    made = call("configurations", names["create"], CreateConfigurationRequest(**fields))
    listed = call("configurations", names["list"])
    check("configurations", names["list"], fields["name"] in [one.name for one in listed])
    changed = UpdateConfigurationRequest(**{**fields, "provider": "azure"})
    call("configurations", names["update"], made.insertedId, changed)
    if names["create"] == "create_configuration":
        call("configurations", "get_configuration", made.insertedId)
    gone = call("configurations", names["delete"], made.insertedId)
    check("configurations", names["delete"], gone.deletedCount == 1)

# Datasets and datapoints.
for names in styles("datasets", create=0, list=0, update=0, delete=0):
    dataset = call("datasets", names["create"], CreateDatasetRequest(name=unique("d")))
    dataset_id = dataset.result.insertedId
    call("datasets", names["update"], UpdateDatasetRequest(dataset_id=dataset_id, name="n"))
    suffix = "_async" if names["create"].endswith("_async") else ""
    mapping = {"inputs": ["q"], "ground_truth": [], "history": []}
    rows = AddDatapointsToDatasetRequest(data=[{"q": "a"}, {"q": "b"}], mapping=mapping)
    added = call("datasets", f"add_datapoints{suffix}", dataset_id, rows)
    call("datasets", f"remove_datapoint{suffix}", dataset_id, added.datapoint_ids[0])
    if names["create"] == "create_dataset":
        call("datasets", "get_dataset", dataset_id)
    listed = call("datasets", names["list"])
    here = [one for one in listed.datasets if one.id == dataset_id]
    check("datasets", names["list"], [len(one.datapoints) for one in here] == [1])
    call("datasets", names["delete"], dataset_id)
for names in styles("datapoints", create=0, list=0, get=0, update=0, delete=0):
    made = call("datapoints", names["create"], CreateDatapointRequest(inputs={"q": "a"}))
    [id] = made.result.insertedIds
    call("datapoints", names["update"], id, UpdateDatapointRequest(inputs={"q": "b"}))
    got = call("datapoints", names["get"], id)
    check("datapoints", names["get"], [one.inputs for one in got.datapoint] == [{"q": "b"}])
    call("datapoints", names["list"])
    call("datapoints", names["delete"], id)

# Metrics and their versions.
for names in styles("metrics", create=0, list=0, update=0, delete=0):
    fields = {"name": unique("m"), "type": "PYTHON", "criteria": "result = 1"}
    made = call("metrics", names["create"], CreateMetricRequest(**fields))
    call("metrics", names["update"], UpdateMetricRequest(id=made.metric_id, description="d"))
    listed = call("metrics", names["list"])
    check("metrics", names["list"], fields["name"] in [one.name for one in listed])
    if names["create"] == "create_metric":
        call("metrics", "get_metric", made.metric_id)
    suffix = "_async" if names["create"].endswith("_async") else ""
    content = {**fields, "criteria": "result = 2"}
    version = CreateMetricVersionRequest(message="two", content=content)
    two = call("metric_versions", f"create{suffix}", made.metric_id, version)
    call("metric_versions", f"deploy{suffix}", made.metric_id, two.data.name)
    versions = call("metric_versions", f"list{suffix}", made.metric_id)
    check("metric_versions", f"list{suffix}", len(versions.data) >= 2)
    call("metrics", names["delete"], made.metric_id)

# Sessions and events.
session = StartSessionRequest(session={"session_name": "s", "source": "methods"})
for name in ("start", "start_async", "create_session", "start_session"):
    session_id = call("sessions", name, session).session_id
event = {"event_type": "tool", "event_name": "e", "source": "methods", "inputs": {"q": 1}}
event["session_id"] = session_id
for create, update in (
    ("create", "update"),
    ("create_async", "update_async"),
    ("create_event", "update_event"),
):
    made = call("events", create, PostEventRequest(event=event))
    change = UpdateEventRequest(event_id=made.event_id, metadata={"seen": create})
    call("events", update, change)
for name in ("create_batch", "create_batch_async"):
    made = call("events", name, PostEventBatchRequest(events=[event, event]))
    check("events", name, len(made.event_ids) == 2)
of_session = EventFilter(field="session_id", operator="is", value=session_id, type="string")
query = {"filters": [of_session.model_dump(mode="json", exclude_none=True)], "limit": 100}
total = 8  # The session, three single events and two batches of two.
for name in ("list", "list_async"):
    check("events", name, len(call("events", name, query).events) == total)
for name in ("get_by_session_id", "get_by_session_id_async"):
    check("events", name, len(call("events", name, session_id).events) == total)
aliases = ("list_events", "list_events_async", "get_events", "get_events_async")
for name in ("export", "export_async", *aliases):
    check("events", name, len(call("events", name, filters=[of_session]).events) == total)

# Experiments, under both of their names.
for api, suffix in [(a, s) for a in ("experiments", "evaluations") for s in ("", "_async")]:
    older = call(api, f"create_run{suffix}", PostExperimentRunRequest(name="older"))
    newer = call(api, f"create_run{suffix}", PostExperimentRunRequest(name="newer"))
    done = PutExperimentRunRequest(status="completed", event_ids=[session_id])
    call(api, f"update_run{suffix}", newer.run_id, done)
    got = call(api, f"get_run{suffix}", newer.run_id)
    check(api, f"get_run{suffix}", got.evaluation.event_ids == [session_id])
    ids = [older.run_id, newer.run_id]
    listed = call(api, f"list_runs{suffix}", run_ids=ids)
    check(api, f"list_runs{suffix}", len(listed.evaluations) == 2)
    call(api, f"get_schema{suffix}")
    result = call(api, f"get_result{suffix}", newer.run_id, "average")
    check(api, f"get_result{suffix}", result["status"] == "completed")
    call(api, f"compare_runs{suffix}", newer.run_id, older.run_id)
    if suffix == "":
        call(api, "get_run_result", newer.run_id)
        call(api, "compare_run_events", newer.run_id, older.run_id)
    gone = call(api, f"delete_run{suffix}", newer.run_id)
    check(api, f"delete_run{suffix}", gone.deleted is True)

# Charts.
for suffix in ("", "_async"):
    chart = call("charts", f"create{suffix}", CreateChartRequest(name="c", metric="event_count"))
    id = chart.data.id
    call("charts", f"get{suffix}", id)
    call("charts", f"list{suffix}")
    call("charts", f"update{suffix}", id, UpdateChartRequest(name="d", metric="event_count"))
    call("charts", f"delete{suffix}", id)


def methods_of(api):
    return {name for name in dir(api) if not name.startswith("_") and callable(getattr(api, name))}


apis = {
    name: getattr(client, name)
    for name in dir(client)
    if type(getattr(client, name)).__name__.endswith("API")
}
uncalled = sorted(
    f"{name}.{method}"
    for name, api in apis.items()
    for method in methods_of(api) - called.get(name, set())
)
count = sum(len(names) for names in called.values())
print(json.dumps({"faults": faults, "uncalled": uncalled, "called": count, "apis": sorted(apis)}))
