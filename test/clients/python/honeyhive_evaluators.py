"""honeyhive 1.7.0 as its users run an experiment that the service's own evaluators score.

Run by test/clients/honeyhive-evaluators.test.ts: honeyhive_evaluators.py URL API_KEY DATASET_ID
"""

import json
import sys

from honeyhive.experiments import evaluate, evaluator

url, api_key, dataset_id = sys.argv[1:]


@evaluator
def length(outputs, inputs, ground_truth):
    return len(outputs["answer"])


def echo(datapoint):
    return {"answer": datapoint["inputs"]["question"]}


def run(name, **more):
    result = evaluate(
        echo,
        api_key=api_key,
        server_url=url,
        dataset_id=dataset_id,
        name=name,
        print_results=False,
        max_workers=2,
        **more,
    )
    return result.run_id


both = run("both", evaluators=[length])
server = run("server")
print(json.dumps({"both": both, "server": server}))
