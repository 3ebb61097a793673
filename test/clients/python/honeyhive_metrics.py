"""Metrics by honeyhive 1.7.0's client, which validates what it gets.

Run by test/clients/honeyhive-metrics.test.ts: honeyhive_metrics.py URL API_KEY
"""

import json
import sys

from honeyhive import HoneyHive
from honeyhive._generated.models import (
    CreateMetricVersionRequest,
    LegacyRunMetricRequest,
    RunMetricRequest,
)
from honeyhive._generated.services import Metrics_service
from honeyhive.models import CreateMetricRequest, UpdateMetricRequest

url, api_key = sys.argv[1:]
client = HoneyHive(api_key=api_key, base_url=url, timeout=60)

created = client.metrics.create(
    CreateMetricRequest(
        name="graded",
        type="PYTHON",
        criteria="def evaluate(event):\n    return 'good', 'as it is'\n",
        return_type="categorical",
        categories=[{"category": "good", "score": 1}, {"category": "bad", "score": None}],
        threshold={"passing_categories": ["good"]},
        sampling_percentage=25,
        filters={
            "filterArray": [
                {"field": "event_type", "operator": "is", "value": "model", "type": "string"}
            ]
        },
    )
)
least = client.metrics.create(CreateMetricRequest(name="least", type="PYTHON", criteria="result = 1"))
client.metrics.update(UpdateMetricRequest(id=created.metric_id, description="changed"))

content = {"name": "graded", "type": "PYTHON", "criteria": "result = 'bad'"}
version = client.metric_versions.create(
    created.metric_id, CreateMetricVersionRequest(message="always bad", content=content)
)
deployed = client.metric_versions.deploy(created.metric_id, version.data.name)
versions = client.metric_versions.list(created.metric_id)


def run(call, request, code, event):
    metric = {"name": "once", "type": "PYTHON", "criteria": code}
    data = request(metric=metric, event={"event_type": "model", "event_name": "e", **event})
    try:
        return call(client.metrics._api_config, data=data).model_dump()
    except Exception as error:
        return {"status": error.status_code, "message": str(error)}


def run_now(code, **event):
    return run(Metrics_service.runMetric, RunMetricRequest, code, event)


def run_as_before(code, **event):
    return run(Metrics_service.runMetricLegacy, LegacyRunMetricRequest, code, event)


reads_ground_truth = "result = outputs['content'] == feedback['ground_truth']"
report = {
    "least": least.metric_id,
    "listed": [metric.model_dump() for metric in client.metrics.list(type="PYTHON")],
    "one": [metric.model_dump() for metric in client.metrics.get_metric(created.metric_id)],
    "deployed": deployed.data.model_dump(),
    "versions": [one.model_dump() for one in versions.data],
    "scored": run_now(
        "result = outputs['content'] + '!', 'why'", outputs={"content": "hi"}, workspace_id="w"
    ),
    "compared": run_as_before(
        reads_ground_truth, outputs={"content": "hi"}, feedback={"ground_truth": "hi"}
    ),
    "without": run_as_before(reads_ground_truth, outputs={"content": "hi"}),
    "failed": run_now("result = 1 / 0"),
    "deleted": client.metrics.delete(least.metric_id).model_dump(),
    "left": [metric.name for metric in client.metrics.list()],
}
print()
print(json.dumps(report, default=str))
