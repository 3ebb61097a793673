"""Connects to Waggle: address, key, deadlines, and retries of what may be repeated.

Messages and services are in `waggle.v1`, generated from the contract; this file is written by hand.
"""

import ipaddress
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import MethodOptions
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import NULL_VALUE, Value
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from .v1.filter_pb2 import Filter

__all__ = ["connect", "fields_of", "pages", "reason_of", "where"]

KEY_HEADER = "idempotency-key"

# Wait before the next try where no answer says how long.
WAIT_SECONDS_DEFAULT = 1.0

# Ports of addresses that name none.
PORTS = {"http": 80, "https": 443}

# Scheme, host, port, and what follows. An IPv6 address has colons of its own, in brackets.
ADDRESS = re.compile(r"(?sia)(https?)://(\[[^]/?#]*\]|[^/?#]*?)(?::([^:/?#]*))?((?:[/?#].*)?)")


def connect(url: str, key: str, *, timeout: float = 60.0, retries: int = 3) -> grpc.Channel:
    """Returns a channel for the stubs of `waggle.v1`, over TLS for `https` addresses.

    `url` is `http://` or `https://`, a host and perhaps a port; another one is a ValueError.
    `timeout` is the longest time of a call with its retries, in seconds; a call may give its own.
    Streams have none by default. White space around `key` is removed; a key that is then empty or
    has anything but visible ASCII is a ValueError.
    """
    scheme, target = _target_of(url)
    checked_key = _checked_key(key)
    options = [
        # Pages have up to 64 MB, where gRPC takes 4.
        ("grpc.max_receive_message_length", -1),
        # gRPC waits one second before it connects again, then longer, up to two minutes, and fails
        # calls meanwhile: a call would be sent again to no connection.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
    ]
    if scheme == "https":
        channel = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
    else:
        channel = grpc.insecure_channel(target, options)
    return grpc.intercept_channel(channel, _Calls(checked_key, timeout, retries))


def _target_of(url: str) -> tuple[str, str]:
    """The scheme, and the host and port that gRPC calls; ValueError for another address."""
    wanted = "url must be http:// or https://, a host and perhaps a port"
    # Messages are logged, and a password or a query may be secret.
    if "@" in url:
        raise ValueError(f"{wanted}, without user name and password")
    given = re.sub(r"(?s)([?#]).*", r"\1…", url)
    parts = ADDRESS.fullmatch(url)
    if not parts or not parts[2]:
        raise ValueError(f"{wanted}, such as https://waggle.example.org, not {given!r}")
    scheme, host, port, rest = parts.groups()
    if rest not in ("", "/"):
        raise ValueError(f"{wanted}, since gRPC has no paths and queries, not {given!r}")
    scheme = scheme.lower()
    return scheme, f"{_checked_host(host.lower())}:{_checked_port(port or '', scheme)}"


def _checked_host(host: str) -> str:
    """A host that gRPC can look up; ValueError for another."""
    if re.fullmatch(r"[a-z0-9._-]+", host) or _is_ipv6(host):
        return host
    raise ValueError(
        f"url: {host!r} is not a host: write a name in the letters a to z, digits, '-', '_' and "
        f"'.'{_ascii_hint(host)}, or an IPv6 address in brackets, such as [::1]"
    )


def _is_ipv6(host: str) -> bool:
    try:
        ipaddress.IPv6Address(host[1:-1])
        return host[0] + host[-1] == "[]"
    except ValueError:
        return False


def _ascii_hint(host: str) -> str:
    """How a name with other letters is written, where it can be."""
    try:
        return "" if host.isascii() else f", here {host.encode('idna').decode()!r}"
    except UnicodeError:
        return ""


def _checked_port(port: str, scheme: str) -> int:
    """The port, by default that of the scheme; ValueError for another than 1 to 65535."""
    if not port:
        return PORTS[scheme]
    if re.fullmatch(r"[0-9]{1,5}", port) and 1 <= int(port) <= 65_535:
        return int(port)
    raise ValueError(
        f"url: {port!r} is not a port: write a number from 1 to 65535, such as "
        f"{scheme}://waggle.example.org:8080"
    )


def _checked_key(key: str) -> str:
    """The key without the white space around it; ValueError where a header cannot carry it."""
    # os.environ.get returns None for a variable that is not set.
    trimmed = (key or "").strip(" \t\n\v\f\r")
    if not trimmed:
        raise ValueError("key is empty: give an API key of Waggle")
    fault = re.search(r"[^\x21-\x7e]", trimmed)
    if fault:
        # Messages are logged, and the key is secret.
        raise ValueError(
            f"key: character {fault.start() + 1} is not visible ASCII (0x21 to 0x7e): give one key "
            "and nothing beside it"
        )
    return trimmed


class _Details(NamedTuple):
    method: str
    timeout: float | None
    metadata: Sequence[tuple[str, str | bytes]] | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: Any


class _Calls(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Authorizes calls and sends them again after a failure that passes.

    All tries of a write have one Idempotency-Key, so that it takes effect once; without one (the
    caller sets an empty key), a write is sent once. A stream is sent once, since its reader has
    seen a part of it.
    """

    def __init__(self, key: str, timeout: float, retries: int) -> None:
        self._authorization = ("authorization", f"Bearer {key}")
        self._timeout = timeout
        self._retries = retries

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = [*(details.metadata or ()), self._authorization]
        retries = self._retries
        if _is_write(details.method):
            keys = [value for name, value in metadata if name == KEY_HEADER]
            if not keys:
                metadata.append((KEY_HEADER, str(uuid.uuid4())))
            elif not keys[0]:
                metadata = [pair for pair in metadata if pair[0] != KEY_HEADER]
                retries = 0
        timeout = self._timeout if details.timeout is None else details.timeout
        deadline = time.monotonic() + timeout
        while True:
            left = max(deadline - time.monotonic(), 0.001)
            outcome = continuation(_with(details, metadata, left), request)
            error = outcome.exception()
            wait = _wait_seconds_of(error) if retries > 0 else None
            if wait is None or time.monotonic() + wait >= deadline:
                return outcome
            retries -= 1
            time.sleep(wait)

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = [*(details.metadata or ()), self._authorization]
        return continuation(_with(details, metadata, details.timeout), request)


def _with(details: Any, metadata: list[tuple[str, str | bytes]], timeout: float | None) -> Any:
    return _Details(
        details.method,
        timeout,
        metadata,
        details.credentials,
        details.wait_for_ready,
        details.compression,
    )


def _is_write(method: str) -> bool:
    name = method.removeprefix("/").replace("/", ".")
    options = descriptor_pool.Default().FindMethodByName(name).GetOptions()
    return options.idempotency_level != MethodOptions.NO_SIDE_EFFECTS


def _wait_seconds_of(error: Any) -> float | None:
    """How long to wait before a call is sent again; None where that cannot help."""
    if not isinstance(error, grpc.RpcError):
        return None
    reason = reason_of(error)
    # An earlier try still runs; its answer is kept for the next one.
    if reason == "IDEMPOTENCY_IN_FLIGHT":
        return WAIT_SECONDS_DEFAULT
    is_busy = error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
    seconds = _trailer(error, "retry-after")
    if is_busy and isinstance(seconds, str) and seconds.isdecimal():
        return float(seconds)
    # Without a reason, the service was not reached.
    is_unreached = reason is None and error.code() == grpc.StatusCode.UNAVAILABLE
    return WAIT_SECONDS_DEFAULT if is_unreached else None


def _trailer(error: Any, name: str) -> str | bytes | None:
    return next((value for key, value in error.trailing_metadata() or () if key == name), None)


_Detail = TypeVar("_Detail", bound=Message)


def _details_of(error: grpc.RpcError, kind: type[_Detail]) -> list[_Detail]:
    value = _trailer(error, "grpc-status-details-bin")
    status = Status.FromString(value) if isinstance(value, bytes) else Status()
    found = [(kind(), detail) for detail in status.details]
    return [message for message, detail in found if detail.Unpack(message)]


def reason_of(error: grpc.RpcError) -> str | None:
    """The reason of a refusal, such as `NOT_FOUND`; None if the service gave none."""
    return next((info.reason for info in _details_of(error, ErrorInfo)), None)


def fields_of(error: grpc.RpcError) -> list[BadRequest.FieldViolation]:
    """The fields that a refusal names, each with a description; empty where it names none."""
    return [field for found in _details_of(error, BadRequest) for field in found.field_violations]


_Request = TypeVar("_Request", bound=Message)
_Page = TypeVar("_Page", bound=Message)


def pages(list_page: Callable[[_Request], _Page], request: _Request) -> Iterator[_Page]:
    """Follows `next_cursor` and yields each page of a list, from the one that is asked for."""
    asked = type(request)()
    asked.CopyFrom(request)
    while True:
        page = list_page(asked)
        yield page
        if not page.HasField("next_cursor"):
            return
        # The service takes a number or a cursor, not both.
        if "page" in asked.DESCRIPTOR.fields_by_name:
            asked.ClearField("page")
        setattr(asked, "cursor", getattr(page, "next_cursor"))


def where(field: str, operator: str, value: str | float | bool | None = None) -> Filter:
    """A filter: a field, an operator and, for most operators, a value.

    `is` None matches where the field is absent or null, `is not` None where it has a value.
    """
    if value is None and operator in ("is", "is not"):
        return Filter(field=field, operator=operator, value=Value(null_value=NULL_VALUE))
    if value is None:
        return Filter(field=field, operator=operator)
    if isinstance(value, bool):
        return Filter(field=field, operator=operator, value=Value(bool_value=value))
    if isinstance(value, str):
        return Filter(field=field, operator=operator, value=Value(string_value=value))
    return Filter(field=field, operator=operator, value=Value(number_value=value))
