"""The metrics that Prometheus may read from the running service: requests, durations, the process; no ids, no money.

Metrics show how much a household service is used, so they are only for the operator: `/metrics` responds only if
`HEARTHPAY_METRICS_TOKEN` is set, and only to clients that send that token.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, Literal

from fastapi import FastAPI
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.refusal import Refusal

TOKEN_VARIABLE: Final = "HEARTHPAY_METRICS_TOKEN"  # noqa: S105 - its name, not a token
PATH: Final = "/metrics"

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="hearthpay metrics"'}
_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
_NO_ROUTE: Final = "none"
_OTHER_METHOD: Final = "other"
_RATE_LIMITED: Final = 429

_WORKER_GAUGES: Final = {
    "due": (
        "hearthpay_worker_payrolls_due",
        "Scheduled payrolls whose time has come, and that are not sent.",
    ),
    "oldest_due_seconds": (
        "hearthpay_worker_oldest_due_seconds",
        "For how long the oldest of them has been due.",
    ),
    "held": ("hearthpay_worker_payments_held", "Payments that wait because they cannot leave."),
    "problems": (
        "hearthpay_worker_problems",
        "What keeps the workers from their work, such as a bank out of reach.",
    ),
}
_WORKER_COUNTERS: Final = {
    "fired": ("hearthpay_worker_payrolls_fired", "Scheduled payrolls that were sent at their time."),
    "failed": ("hearthpay_worker_payrolls_failed", "Scheduled payrolls that were given up."),
    "put_off": ("hearthpay_worker_attempts_failed", "Attempts to send a payroll that are made again later."),
}

CutReason = Literal["full", "address", "late", "unread", "malformed", "large"]
"""Why a connection was cut: no room, too many from one address, not sent or not read in time, not HTTP, too large."""

# A second series for each that says when it began: Prometheus itself has no use for it in this format.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The metrics of one application, in its own registry: a process may hold several applications."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.in_flight = 0
        """How many requests are currently being answered."""
        self._requests = Counter(
            "hearthpay_http_requests",
            "Requests answered, by method, route template and status (0: broken off before the answer).",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._durations = Histogram(
            "hearthpay_http_request_duration_seconds",
            "How long answers took.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._replays = Counter(
            "hearthpay_http_idempotent_replays",
            "Requests answered from what an earlier one with the same idempotency key had answered.",
            ("route",),
            registry=self.registry,
        )
        self._rate_limited = Counter(
            "hearthpay_http_rate_limited",
            "Requests refused with 429: the key's day is used up, or too many came at once.",
            ("route",),
            registry=self.registry,
        )
        self._cut = Counter(
            "hearthpay_connections_cut",
            "Connections that the service ended or refused, by reason.",
            ("reason",),
            registry=self.registry,
        )
        self._failed_authentications = Counter(
            "hearthpay_authentication_failures",
            "Keys presented that are not valid; throttled: refused without a look, after too many.",
            ("throttled",),
            registry=self.registry,
        )
        self._report_reads = Counter(
            "hearthpay_report_reads",
            "Reports read where a replica is set, by the server that was read: replica or primary.",
            ("server",),
            registry=self.registry,
        )
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.worker: Mapping[str, float] = {}
        """What the workers have done and have to do, by name, as last read; empty if it couldn't be read."""
        self.registry.register(_InFlight(self))
        self.registry.register(_WorkerFigures(self))
        for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
            self.registry.register(collector)

    def count(self, method: str, route: str | None, status: int, seconds: float, *, replayed: bool) -> None:
        """Count one request. Labels are bounded: they never include a method or address that a client made up."""
        template = _NO_ROUTE if route is None else route
        known = self._known.get((method, template, status))
        if known is None:
            known = self._series(method, template, status)
        known[0].inc()
        known[1].observe(seconds)
        if replayed:
            self._replays.labels(template).inc()
        if status == _RATE_LIMITED:
            self._rate_limited.labels(template).inc()

    def count_cut(self, reason: CutReason) -> None:
        """Count one connection that was cut."""
        self._cut.labels(reason).inc()

    def count_failed_authentication(self, *, throttled: bool) -> None:
        """Count one attempt with an invalid key."""
        self._failed_authentications.labels("yes" if throttled else "no").inc()

    def count_report_read(self, from_replica: bool) -> None:
        """Count one report by the server that it was read from."""
        self._report_reads.labels("replica" if from_replica else "primary").inc()

    def _series(self, method: str, template: str, status: int) -> tuple[Counter, Histogram]:
        """Return the two series of such a request, cached: finding them costs more than counting."""
        name = method if method in _METHODS else _OTHER_METHOD
        series = (self._requests.labels(name, template, str(status)), self._durations.labels(name, template))
        if name == method:
            self._known[method, template, status] = series
        return series

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class _InFlight(Collector):
    """The gauge of active requests; a plain number until it is collected."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> list[GaugeMetricFamily]:
        """Return the gauge's current value."""
        return [
            GaugeMetricFamily(
                "hearthpay_http_requests_in_flight",
                "Requests being answered at this moment.",
                value=self._metrics.in_flight,
            )
        ]


class _WorkerFigures(Collector):
    """The figures of all workers together; they are in the database, not in this process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return the figures read for this response; none if the database didn't provide them."""
        figures = self._metrics.worker
        yield GaugeMetricFamily(
            "hearthpay_worker_figures_read",
            "Whether the figures of the workers could be read from the database.",
            value=float(bool(figures)),
        )
        if not figures:
            return
        for name, (series, meaning) in _WORKER_GAUGES.items():
            yield GaugeMetricFamily(series, meaning, value=figures.get(name, 0.0))
        for name, (series, meaning) in _WORKER_COUNTERS.items():
            yield CounterMetricFamily(series, meaning, value=figures.get(name, 0.0))


def metrics_of(app: FastAPI) -> Metrics:
    """Return the metrics of an application that `install` was called for."""
    metrics: Metrics = app.state.metrics
    return metrics


def install(
    app: FastAPI,
    metrics: Metrics,
    token: str | None,
    worker: Callable[[], Awaitable[Mapping[str, float]]] | None = None,
) -> None:
    """Have `app` serve `/metrics` to clients that send `token`; without a token, or an empty one, there is no such
    path.

    `worker` reads the workers' figures, and returns none if it can't.
    """
    app.state.metrics = metrics
    if not token:
        return
    expected = token.encode("utf-8")

    async def answer(request: Request) -> Response:
        kind, _, presented = request.headers.get("authorization", "").partition(" ")
        shown = presented.strip().encode("latin-1")
        if kind.lower() != "bearer" or not secrets.compare_digest(shown, expected):
            raise Refusal(
                "authentication_required",
                "This address needs the operator's metrics token as 'Authorization: Bearer …'.",
                headers=_CHALLENGE,
            )
        if worker is not None:
            metrics.worker = await worker()
        return Response(metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    app.add_api_route(PATH, answer, include_in_schema=False)
