"""The web application: every route of the service behind one middleware.

Only `/healthz`, `/readyz`, `/openapi.json`, `/llms.txt` and `/docs` with its files answer without an API key; `/` leads
programs to the documentation and people home. `/metrics` and the portal's pages have tokens of their own, people's
pages their sessions. `/mcp` is for agents, with a key or a token.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hearthpay.access.database_attempts import DatabaseAttempts
from hearthpay.access.deferred_audit import DeferredAudit
from hearthpay.access.throttle import AttemptStore
from hearthpay.autopilot.routes import router as autopilot
from hearthpay.banking.routes import router as banking
from hearthpay.calculator.routes import router as calculator
from hearthpay.clock import Clock, HouseholdClock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.readiness import require_ready
from hearthpay.database.replica import ReadReplica, ReplicaSettings
from hearthpay.database.session import Database
from hearthpay.documents.routes import router as documents
from hearthpay.duties.registration_routes import router as registrations
from hearthpay.duties.routes import router as duties
from hearthpay.employees.routes import router as employees
from hearthpay.employers.routes import router as employers
from hearthpay.filing.routes import router as filing
from hearthpay.http import errors, metrics, runtime
from hearthpay.http.attempts import FailedAttempts
from hearthpay.http.deadlines import Deadlines
from hearthpay.http.docs_page import docs_page, openapi_document
from hearthpay.http.envelope import answer
from hearthpay.http.fair_share import USUAL_SHARE, FairShare
from hearthpay.http.fast_dispatch import FastDispatch
from hearthpay.http.hosts import KnownHosts
from hearthpay.http.key_lookup import KeyLookup
from hearthpay.http.llms_text import llms_page
from hearthpay.http.middleware import RequestMiddleware
from hearthpay.http.openapi import Application
from hearthpay.http.published import Published
from hearthpay.http.rate_limit import RateLimits
from hearthpay.http.reference import reference_files
from hearthpay.http.route_index import RouteIndex
from hearthpay.http.runtime import Runtime, runtime_of
from hearthpay.http.shared_attempts import ValkeyAttempts
from hearthpay.jurisdictions.routes import router as jurisdictions
from hearthpay.mail.limits import USUAL_LIMITS, MailLimits
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notices import LINKS_BEGIN
from hearthpay.mail.person_postman import PersonPostman
from hearthpay.mcp.hosted import PATH as AGENTS_PATH
from hearthpay.mcp.hosted import HostedTools
from hearthpay.oauth.routes import router as oauth
from hearthpay.payroll.payday.worker_counts import worker_figures
from hearthpay.payroll.retired import router as retired
from hearthpay.payroll.routes import router as payroll
from hearthpay.payroll.years.prior_routes import router as prior_wages
from hearthpay.payroll.years.threshold_routes import router as households
from hearthpay.people.context import PeopleContext
from hearthpay.people.dependencies import install_people_context
from hearthpay.people.throttle import SignInThrottle
from hearthpay.reports.routes import router as reports
from hearthpay.sandbox.routes import router as sandbox
from hearthpay.security.key_ring import KeyRing
from hearthpay.taxes.rules_in_use import rules_in_use
from hearthpay.todos.feed_routes import router as calendar_feed
from hearthpay.todos.routes import router as to_dos
from hearthpay.web.framework import failure_page
from hearthpay.web.people_pages import PEOPLE_ROUTES
from hearthpay.web.portal import router as portal

ROUTERS: Final[tuple[APIRouter, ...]] = (
    calculator,
    payroll,
    employers,
    households,
    employees,
    prior_wages,
    banking,
    registrations,
    reports,
    to_dos,
    duties,
    filing,
    documents,
    autopilot,
    jurisdictions,
    sandbox,
    retired,
)
"""The feature packages' routes, in the order of the documentation."""

OPEN_PATHS: Final = frozenset(
    {"/healthz", "/readyz", "/openapi.json", "/llms.txt", "/docs", *reference_files()}
)
"""Paths that answer without an API key."""

INTERFACE_VERSION: Final = "1.12.0"
"""The version of the API as its clients see it; `docs/reference/api-changelog.md` lists what each added."""

_LOADED_WITHIN: Final = 3.0  # seconds; some times what it takes where nothing else is done
_READY_WITHIN: Final = 2.0  # seconds; a probe that waits longer has its answer
_DESCRIPTION: Final = (
    "Payroll and taxes for US household employers. Every request carries an API key as "
    "`Authorization: Bearer hp_…`; every answer comes in one envelope with the request's id, and its headers "
    "`RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds) tell what the key has left of its "
    "requests of the day (UTC). "
    "Send an `Idempotency-Key` with every POST that you may have to repeat."
)
_TAGS: Final = (
    {"name": "Calculator", "description": "Taxes on wages that nobody is paid yet. Nothing is stored."},
    {"name": "Payroll", "description": "Preview, run, read and void payrolls."},
    {"name": "Employers", "description": "Households, and how their money moves."},
    {
        "name": "Employees",
        "description": "Who is paid: hiring, changes, invitations, wages from before, leaving.",
    },
    {
        "name": "State registrations",
        "description": "With which agencies a household must register, and the numbers they gave it.",
    },
    {"name": "Reports", "description": "Wages by state and taxes by agency, as the ledger has them."},
    {"name": "To-dos", "description": "What a household has to do now, in one list, most urgent first."},
    {"name": "Tax calendar", "description": "What a household must file and pay, by when, and how much."},
    {
        "name": "Payments and filings",
        "description": "What a household paid to tax agencies and filed with them, and what is open.",
    },
    {
        "name": "Documents",
        "description": "Pay stubs and the year's forms, issued, kept and listed; what to pay in each quarter.",
    },
    {
        "name": "Autopilot",
        "description": "Recurring payroll: where it stands, pausing, skipping and ending it.",
    },
    {"name": "Jurisdictions", "description": "What a state's law asks for."},
    {
        "name": "Sandbox",
        "description": "For test keys: test values in the place of numbers, and clocks to move households by.",
    },
)
"""The documentation's chapters, in order; each router names its own."""
_LICENSE: Final = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
_CONTACT: Final = {"name": "The Hearthpay maintainers"}
_SAME_ADDRESS: Final = "Where this document is served; `hearthpay serve` does so at http://127.0.0.1:8000."


@dataclass(frozen=True, slots=True)
class AppSettings:
    """What an installation decides about its application. Without any, it serves the API and sends nothing."""

    public_url: str | None = None
    """The service's address as its clients see it: other hosts than that and this machine are then refused."""
    metrics_token: str | None = None
    """What reads `/metrics`; without it there is none."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    rate_limits: RateLimits | None = None
    """Where requests are counted; without it, in this process alone."""
    ring: KeyRing | None = None
    """The keys of the vault; without them the portal takes no numbers and nobody is invited."""
    mailer: Mailer | None = None
    """Sends emails, no more in a day than `mail_limits` allow; without it none is sent."""
    mail_limits: MailLimits = USUAL_LIMITS
    direct_deposit: bool = False
    """Whether a bank is configured that real households' payrolls can go through."""
    requests_at_once: int = USUAL_SHARE
    """How many requests of one organization are worked on at once."""
    sign_up_open: bool = True
    """Whether strangers may make accounts, where there is a `mailer`."""
    cost_page_open: bool = False
    """Whether `/cost` estimates for anybody what an employee would cost."""
    keeps_mail: bool = False
    """Whether the worker keeps emails in a folder, where there is no `mailer`."""
    operator: str | None = None
    """The operator's address, which warnings name."""
    replica: ReplicaSettings | None = None
    """Where reports are read from, if not from the database itself."""


DEFAULT_SETTINGS: Final = AppSettings()


def create_app(database: Database, clock: Clock, settings: AppSettings = DEFAULT_SETTINGS) -> FastAPI:
    """Return the application over an open database."""
    app = Application(
        title="Hearthpay",
        version=INTERFACE_VERSION,
        description=_DESCRIPTION,
        license_info=_LICENSE,
        contact=_CONTACT,
        servers=[
            {"url": settings.public_url}
            if settings.public_url
            else {"url": "/", "description": _SAME_ADDRESS}
        ],
        openapi_tags=[*_TAGS],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    keys = KeyLookup(database, clock)
    counting = settings.rate_limits or RateLimits(clock)
    stores: list[AttemptStore] = [DatabaseAttempts(database)]
    if counting.shared is not None:
        stores.insert(0, ValkeyAttempts(counting.shared))
    counted = metrics.Metrics()
    parts = Runtime(
        database=database,
        clock=HouseholdClock(clock),
        keys=keys,
        rate_limits=counting,
        attempts=FailedAttempts(clock, stores),
        fair_share=FairShare(settings.requests_at_once),
        deferred_audit=DeferredAudit(database),
        public_url=settings.public_url,
        ring=settings.ring,
        mailer=settings.mailer,
        mail_limits=settings.mail_limits,
        direct_deposit=settings.direct_deposit,
        replica=(
            None
            if settings.replica is None
            else ReadReplica(database, settings.replica, counted.count_report_read)
        ),
    )
    runtime.install(app, parts)
    errors.install(app, failure_page)
    metrics.install(app, counted, settings.metrics_token, partial(worker_figures, database, clock))
    app.add_middleware(FastDispatch, routes=app.router.routes)
    if settings.public_url is not None:
        app.add_middleware(KnownHosts)
    app.add_middleware(RequestMiddleware, metrics=counted, deadlines=settings.deadlines)
    app.state.documentation = {
        "/openapi.json": openapi_document(app.openapi),
        "/llms.txt": llms_page(app.openapi),
        "/docs": docs_page(app.openapi),
    }
    for router in (_OPEN, *ROUTERS):
        app.router.routes.extend(router.routes)  # flat: matched at once, and the header Allow can be complete
    app.router.routes.extend(portal.routes)
    app.router.routes.extend(calendar_feed.routes)
    app.router.routes.extend(oauth.routes)
    postman = (
        PersonPostman(database, settings.ring, settings.mailer, clock)
        if settings.ring is not None and settings.mailer is not None
        else None
    )
    people_context = PeopleContext(
        database,
        HouseholdClock(clock),
        settings.ring,
        SignInThrottle(clock, stores),
        sends_mail=postman is not None,
        sign_up_open=settings.sign_up_open,
        cost_page_open=settings.cost_page_open,
        postman=postman,
        keeps_mail=settings.keeps_mail and postman is None and settings.ring is not None,
        links_begin=(settings.public_url or LINKS_BEGIN).rstrip("/"),
        operator=settings.operator,
    )
    install_people_context(app, people_context)
    app.router.routes.extend(PEOPLE_ROUTES)
    app.router.routes.insert(0, RouteIndex(app.router.routes))
    # First, since routes are tried in turn and agents call little else.
    app.router.routes.insert(0, Route(AGENTS_PATH, HostedTools(), methods=["POST"], include_in_schema=False))
    return app


async def doorstep(request: Request) -> Response:
    """Redirect `/`: people to their home page or to sign in, programs to the documentation."""
    headers = {"Vary": "Accept"}
    return (
        RedirectResponse("/home", 303, headers)
        if errors.reads_pages(request)
        else RedirectResponse("/docs", headers=headers)
    )


async def documentation(request: Request) -> Response:
    """Return the documentation of this application: as a document or as a page."""
    published: Mapping[str, Published] = request.app.state.documentation
    return await published[request.scope["route"].path](request)


async def to_the_documentation(_: Request) -> Response:
    """Redirect `/docs/` to `/docs`."""
    return RedirectResponse("/docs")


async def healthz(request: Request) -> Response:
    """Return whether the process answers at all."""
    return answer(request, {"status": "ok"})


async def readyz(request: Request) -> Response:
    """Return whether the service can do its work, and by which editions of the rules.

    It can where its database takes writes and has the schema of this program, and once a process that has just started
    has loaded what first requests need.
    """
    try:
        async with asyncio.timeout(_READY_WITHIN):
            await require_ready(runtime_of(request).database)
        if (loading := getattr(request.app.state, "loading", None)) is not None:
            async with asyncio.timeout(_LOADED_WITHIN):
                await asyncio.shield(loading)
    except TimeoutError as error:
        raise DatabaseUnavailable("the service did not answer the readiness probe in time") from error
    rules = rules_in_use(runtime_of(request).clock.today())
    return answer(request, {"status": "ready", "rules": [each.as_json() for each in rules]})


def _open_routes() -> APIRouter:
    """Return what answers without a key, and is the same in every application."""
    router = APIRouter(include_in_schema=False)
    router.add_api_route("/healthz", healthz)
    router.add_api_route("/readyz", readyz)
    router.add_api_route("/openapi.json", documentation)
    router.add_api_route("/llms.txt", documentation)
    router.add_api_route("/docs", documentation)
    for path, file in reference_files().items():
        router.add_api_route(path, file)
    router.add_api_route("/", doorstep)
    router.add_api_route("/docs/", to_the_documentation)
    return router


_OPEN: Final = _open_routes()
