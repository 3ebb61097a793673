"""Puts ids of real resources into the paths that Schemathesis generates.

WAGGLE_PROOF_IDS names a JSON file of ids by path template and parameter. Three of four requests get
them, chosen by the generated values, so that a seed repeats its run.
"""

import json
import os
import zlib

import schemathesis

with open(os.environ["WAGGLE_PROOF_IDS"], encoding="utf-8") as file:
    IDS = json.load(file)

# An archived scope would end the access of every later request.
SCOPES = ("{org_id}", "{virtual_dataplane_id}", "{workspace_id}", "{project_id}")


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    operation = context.operation
    ids = IDS.get(f"{operation.method.upper()} {operation.path}")
    if not ids or not path_parameters:
        return path_parameters
    if operation.method.upper() == "DELETE" and operation.path.endswith(SCOPES):
        return path_parameters
    generated = json.dumps(path_parameters, sort_keys=True, default=str)
    if zlib.crc32(generated.encode()) % 4 == 0:
        return path_parameters
    return {name: ids.get(name, value) for name, value in path_parameters.items()}
