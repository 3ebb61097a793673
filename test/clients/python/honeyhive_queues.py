"""Annotation queues by honeyhive 1.7.0's generated client, which validates what it gets.

Run by test/clients/honeyhive-queues.test.ts: honeyhive_queues.py URL API_KEY
"""

import asyncio
import json
import sys

from honeyhive._generated.api_config import APIConfig, HTTPException
from honeyhive._generated.models import (
    CreateAnnotationQueueRequest,
    UpdateAnnotationQueueRequest,
)
from honeyhive._generated.services import Queues_service, async_Queues_service

url, api_key = sys.argv[1:]
config = APIConfig(base_path=url, access_token=api_key)

filters = {
    "filterArray": [
        {"field": "event_type", "operator": "is", "value": "model", "type": "string"}
    ]
}
created = Queues_service.createQueue(
    config,
    data=CreateAnnotationQueueRequest(
        name="answers",
        description="of models",
        filters=filters,
        enabled=True,
        event_ids=["e1"],
    ),
)
least = Queues_service.createQueue(
    config, data=CreateAnnotationQueueRequest(name="least", enabled=False)
)
queue_id = created.queue.id
got = Queues_service.getQueue(config, queue_id=queue_id)
updated = Queues_service.updateQueue(
    config,
    queue_id=queue_id,
    data=UpdateAnnotationQueueRequest(
        id=queue_id, name="renamed", add_event_ids=["e2"], remove_event_ids=["e1"]
    ),
)
listed = Queues_service.getQueues(config)
enabled = Queues_service.getQueues(config, enabled=True)
later = asyncio.run(async_Queues_service.getQueue(config, queue_id=queue_id))
deleted = Queues_service.deleteQueue(config, queue_id=queue_id)

try:
    Queues_service.getQueue(config, queue_id=queue_id)
    absent = None
except HTTPException as error:
    absent = error.status_code


def plain(model):
    return model.model_dump(mode="json")


print(
    json.dumps(
        {
            "created": plain(created),
            "least": plain(least),
            "got": plain(got),
            "updated": plain(updated),
            "listed": plain(listed),
            "enabled": plain(enabled),
            "later": plain(later),
            "deleted": plain(deleted),
            "absent": absent,
        }
    )
)
