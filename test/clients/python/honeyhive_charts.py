"""Charts by honeyhive 1.7.0, under the project with a data plane key and on the deprecated paths.

Run by test/clients/honeyhive-charts.test.ts: honeyhive_charts.py URL API_KEY DATA_PLANE_KEY PROJECT_ID
"""

import json
import sys
import warnings

warnings.simplefilter("ignore", DeprecationWarning)

from honeyhive import HoneyHive  # noqa: E402
from honeyhive._generated.api_config import HTTPException  # noqa: E402
from honeyhive.models import CreateChartRequest, UpdateChartRequest  # noqa: E402

url, api_key, data_plane_key, project_id = sys.argv[1:]
client = HoneyHive(api_key=api_key, data_plane_api_key=data_plane_key, server_url=url, timeout=60)


def as_json(model):
    return json.loads(model.model_dump_json())


def status_of(call):
    try:
        call()
    except HTTPException as error:
        return error.status_code
    return 200


report = {}
for name, where in (("current", {"project_id": project_id}), ("older", {})):
    created = client.charts.create(
        CreateChartRequest(
            name=name,
            metric="cost",
            func="sum",
            groupBy="model",
            bucketing="hour",
            dateRange={"$gte": "2026-01-01", "$lte": "2026-01-31"},
            query=[
                {
                    "field": "event_type",
                    "operator": "is",
                    "value": "model",
                    "type": "string",
                }
            ],
            owner_id="me",
        ),
        **where,
    )
    chart_id = created.data.id
    report[name] = {
        "created": as_json(created),
        "seen": as_json(client.charts.get(chart_id)),
        "updated": as_json(
            client.charts.update(chart_id, UpdateChartRequest(name="renamed"), **where)
        ),
        "listed": as_json(client.charts.list(**where)),
        "deleted": as_json(client.charts.delete(chart_id, **where)),
        "absent": status_of(lambda: client.charts.get(chart_id, **where)),
    }
least = client.charts.create(
    CreateChartRequest(name="least", metric="event_count"), project_id=project_id
)
report["least"] = as_json(least)
print(json.dumps(report))
