"""Asks models through the service with the published openai client, and reports what it saw.

Run by test/clients/openai-python.test.ts: openai_client.py BASE_URL KEY
"""

import json
import sys

import openai

base_url, key = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=20)
messages = [{"role": "user", "content": "How is the weather?"}]
tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]


def whole(model):
    raw = client.chat.completions.with_raw_response.create(model=model, messages=messages)
    answer = raw.parse()
    return {
        "content": answer.choices[0].message.content,
        "finish_reason": answer.choices[0].finish_reason,
        "tokens": answer.usage.total_tokens,
        "generation_id": raw.headers["x-waggle-generation-id"],
    }


def streamed(model):
    options = {"include_usage": True}
    stream = client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options=options
    )
    content, finish, tokens = "", None, None
    for chunk in stream:
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
        if chunk.usage:
            tokens = chunk.usage.total_tokens
    return {"content": content, "finish_reason": finish, "tokens": tokens}


def called(model):
    answer = client.chat.completions.create(model=model, messages=messages, tools=tools)
    call = answer.choices[0].message.tool_calls[0]
    result = {"role": "tool", "tool_call_id": call.id, "content": "18"}
    then = client.chat.completions.create(
        model=model, messages=[*messages, answer.choices[0].message, result], tools=tools
    )
    return {
        "name": call.function.name,
        "arguments": json.loads(call.function.arguments),
        "then": then.choices[0].message.content,
    }


def failure(work):
    """The class of the error that `work` must end with."""
    try:
        work()
    except openai.OpenAIError as error:
        return {"type": type(error).__name__, "message": str(error)}
    except Exception as error:
        # The transport's own, when a stream breaks off.
        return {"type": "broken", "message": str(error)}
    return {"type": "none", "message": ""}


providers = [
    "openai",
    "azure",
    "openai_compatible",
    "anthropic",
    "google",
    "mistral",
    "bedrock",
]
embedded = client.embeddings.create(model="openai/embed", input=["one", "two"])
report = {
    "providers": {
        name: {
            "whole": whole(f"{name}/some"),
            "streamed": streamed(f"{name}/some"),
            "called": called(f"{name}/some"),
        }
        for name in providers
    },
    "embeddings": [item.embedding for item in embedded.data],
    "models": [model.id for model in client.models.list()],
    "failures": {
        "rejected": failure(lambda: whole("openai/fail-400")),
        "limited": failure(lambda: whole("openai/fail-429")),
        "failed": failure(lambda: whole("openai/fail-500")),
        "malformed": failure(lambda: whole("openai/malformed")),
        "cut off": failure(lambda: streamed("openai/cut-off")),
        "error event": failure(lambda: streamed("openai/trickle-20+error-event")),
        "unknown": failure(lambda: whole("nobody/some")),
    },
}
print(json.dumps(report))
