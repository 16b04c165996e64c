"""Reads a resource, from its address to what the model reads: the API's answer, or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hearthpay.mcp.calls import ApiCaller
from hearthpay.mcp.resources import JSON, ResourceTemplate, resolve_resource
from hearthpay.mcp.tool_results import OK

NOT_FOUND: Final = "not_found"


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading a resource; `code` is that of a refusal, or `ok`, and `message` says why.

    `item` is what the address names, None if it names nothing; `payroll_id` is the payroll that was read.
    """

    item: ResourceTemplate | None
    code: str = OK
    message: str = ""
    content: bytes = b""
    payroll_id: UUID | None = None


async def answer_reading(caller: ApiCaller, address: str) -> Reading:
    """Return what is at an address, as the agent's tool for it would; each reading counts as a call."""
    found = resolve_resource(address)
    if found is None:
        return await _counted(caller, Reading(None, NOT_FOUND, "There is nothing at this address."))
    if not caller.terms.give(found.item.tool):
        refusal = f"The person who let you in did not give you {found.item.tool}."
        return await _counted(caller, Reading(found.item, "scope_required", refusal))
    answered = await caller.call(found.call)
    if answered.media_type == JSON:
        error = answered.envelope().get("error")
        if error is not None:
            return Reading(found.item, error["code"], error["message"])
    return Reading(found.item, content=answered.content, payroll_id=found.payroll_id)


async def _counted(caller: ApiCaller, refused: Reading) -> Reading:
    over = await caller.count()
    return refused if over is None else Reading(refused.item, over["code"], over["message"])
