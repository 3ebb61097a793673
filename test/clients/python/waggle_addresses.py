"""Connects to addresses and reports each one's target in gRPC, or why it is refused.

Run by test/clients/python-client.test.ts: waggle_addresses.py ADDRESS…
"""

import json
import sys

import grpc
import waggle

insecure_channel, secure_channel = grpc.insecure_channel, grpc.secure_channel
targets = []


def note_insecure(target, *rest):
    targets.append(f"plain {target}")
    return insecure_channel(target, *rest)


def note_secure(target, *rest):
    targets.append(f"TLS {target}")
    return secure_channel(target, *rest)


grpc.insecure_channel, grpc.secure_channel = note_insecure, note_secure


def target_of(url):
    try:
        waggle.connect(url, "key").close()
        return targets[-1]
    except ValueError as error:
        return str(error)


print(json.dumps([target_of(url) for url in sys.argv[1:]]))
