"""honeyhive 1.7.0 as its users run experiments: datasets, evaluate(), results and comparisons.

Run by test/clients/honeyhive-experiments.test.ts: honeyhive_experiments.py URL API_KEY
"""

import json
import logging
import sys
import warnings

logged = []


class Keep(logging.Handler):
    def emit(self, record):
        logged.append(f"{record.levelname} {record.name}: {record.getMessage()}")


logging.getLogger().addHandler(Keep(logging.WARNING))
warnings.simplefilter("ignore", DeprecationWarning)

from honeyhive import HoneyHive  # noqa: E402
from honeyhive.experiments import compare_runs, evaluate, evaluator  # noqa: E402
from honeyhive.models import (  # noqa: E402
    AddDatapointsToDatasetRequest,
    CreateDatapointRequest,
    CreateDatasetRequest,
    UpdateDatapointRequest,
    UpdateDatasetRequest,
)

url, api_key = sys.argv[1:]
client = HoneyHive(api_key=api_key, server_url=url, timeout=60)
report = {}


@evaluator
def length(outputs, inputs, ground_truth):
    return len(outputs["answer"])


@evaluator
def exact(outputs, inputs, ground_truth):
    return outputs["answer"] == ground_truth["answer"]


@evaluator
def tone(outputs, inputs, ground_truth):
    return "long" if len(outputs["answer"]) > 1 else "short"


def short(datapoint):
    return {"answer": datapoint["inputs"]["question"][:1]}


def echo(datapoint):
    return {"answer": datapoint["inputs"]["question"]}


def run(function, name, evaluators=(length, exact), **dataset):
    return evaluate(
        function,
        evaluators=list(evaluators),
        api_key=api_key,
        server_url=url,
        name=name,
        print_results=False,
        max_workers=2,
        **dataset,
    )


def as_json(model):
    return json.loads(model.model_dump_json())


# A dataset of the client's own.
own = [
    {"inputs": {"question": "a"}, "ground_truth": {"answer": "a"}},
    {"inputs": {"question": "bb"}, "ground_truth": {"answer": "bb"}},
    {"inputs": {"question": "ccc"}, "ground_truth": {"answer": "c"}},
]
first = run(short, "own_short", dataset=own)
second = run(echo, "own_echo", dataset=own)
report["first"] = as_json(first)
report["second"] = as_json(second)
report["toned"] = as_json(run(echo, "toned", [tone], dataset=own))
compared = compare_runs(client, new_run_id=second.run_id, old_run_id=first.run_id)
report["compared"] = as_json(compared)
pairs = client.experiments.compare_run_events(
    new_run_id=second.run_id, old_run_id=first.run_id, event_type="session", limit=100
)
report["pairs"] = as_json(pairs)

# A dataset of the service.
made = client.datasets.create(CreateDatasetRequest(name="managed", description="by the client"))
dataset_id = made.result.insertedId
added = client.datasets.add_datapoints(
    dataset_id,
    AddDatapointsToDatasetRequest(
        data=[{"question": "a", "answer": "a"}, {"question": "bb", "answer": "b"}],
        mapping={"inputs": ["question"], "ground_truth": ["answer"], "history": []},
    ),
)
third = client.datapoints.create(
    CreateDatapointRequest(
        inputs={"question": "third"}, ground_truth={"answer": "t"}, linked_datasets=[dataset_id]
    )
)
third_id = third.result.insertedIds[0]
report["listed"] = as_json(client.datasets.list(name="managed"))
managed = run(echo, "managed_echo", dataset_id=dataset_id)
report["managed"] = as_json(managed)
report["managed_run"] = as_json(client.experiments.get_run(managed.run_id))

# The other calls.
client.datapoints.update(third_id, UpdateDatapointRequest(inputs={"question": "changed"}))
report["changed"] = as_json(client.datapoints.get(third_id))
report["points"] = as_json(client.datapoints.list(dataset_name="managed"))
client.datasets.remove_datapoint(dataset_id, added.datapoint_ids[0])
client.datapoints.delete(third_id)
renamed = UpdateDatasetRequest(dataset_id=dataset_id, name="renamed", description="changed")
client.datasets.update(renamed)
report["renamed"] = as_json(client.datasets.list(dataset_id=dataset_id))
report["runs"] = as_json(client.experiments.list_runs(name="own_"))
report["by_ids"] = as_json(client.experiments.list_runs(run_ids=[first.run_id, second.run_id]))
report["deleted_run"] = as_json(client.experiments.delete_run(first.run_id))
report["deleted_dataset"] = as_json(client.datasets.delete(dataset_id))
report["left"] = as_json(client.experiments.list_runs(sort_by="name", sort_order="asc"))
report["logged"] = logged
print(json.dumps(report))
