"""The daily limit of requests: counts each request with a valid key or token, and refuses those beyond the plan."""

from starlette.requests import Request

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.http.rate_limit import RATE_LIMIT_KEY
from hearthpay.http.runtime import runtime_of


async def refuse_over_daily_limit(request: Request, actor: Actor) -> None:
    """Count the request, and pass the middleware the headers with what the key has left. Raises `rate_limited`."""
    if actor.id is None:
        raise ValueError("whoever calls has an id: that of a key or a token")
    counted = actor.budget or actor.id
    allowance = await runtime_of(request).rate_limits.spend(counted, actor.terms.limits.requests_per_day)
    if allowance is None:
        return
    request.scope[RATE_LIMIT_KEY] = allowance.headers
    if allowance.exceeded:
        raise Refusal(
            "rate_limited",
            f"{'This key has' if actor.budget is None else 'The agents of this person have'} made the "
            f"{allowance.limit} requests that the plan '{actor.terms.plan}' allows in a "
            "day. The count starts again at midnight UTC.",
            details={"plan": actor.terms.plan, "limit": allowance.limit, "retry_after": allowance.reset},
            headers={"Retry-After": str(allowance.reset)},
        )
