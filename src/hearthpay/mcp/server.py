"""The tools, resources and prompts on the SDK's low-level server, the same for stdio and for `/mcp`.

The server keeps nothing between two requests: each one comes with its caller. Importing the SDK takes most of a
second, so this module is imported only when it is needed.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from hearthpay import __version__
from hearthpay.mcp.calls import ApiCaller, CallTerms
from hearthpay.mcp.guides import GUIDES, Guide
from hearthpay.mcp.resource_results import NOT_FOUND, Reading, answer_reading
from hearthpay.mcp.resources import JSON, RESOURCE_TEMPLATES
from hearthpay.mcp.tool_results import OK, ToolAnswer, answer_call
from hearthpay.mcp.tools.agent_tool import AgentTool
from hearthpay.mcp.tools.toolbox import TOOLBOX

Context = ServerRequestContext[Any, Any]
CallerOf = Callable[[Context], ApiCaller]
CallNoted = Callable[[Context, str, ToolAnswer | None], Awaitable[None]]
"""Called for each tool call with its answer, None if it was cut off."""

ReadingNoted = Callable[[Context, Reading | None], Awaitable[None]]
"""Called for each resource that was read, None if it was cut off."""

NAME: Final = "hearthpay"
INSTRUCTIONS: Final = (
    "Hearthpay is payroll for US households that employ someone at home. Reading and previewing is free of "
    "consequences. run_payroll makes a tax record and may move money, manage_autopilot changes somebody's pay: before "
    "either, show the person what will happen and get a clear yes. Look ids up with list_households_and_employees. "
    "Preview before each run, and pass its preview_token. Amounts are US dollars. A refusal protects somebody: do what "
    "its next_step says, and never change a refused call to get around it. `scheduled` is not paid. Social Security, "
    "tax and bank account numbers are never entered here: people enter them in the app."
)
_PUBLIC_HOUR: Final = CacheHint(ttl_ms=3_600_000, scope="public")
_NOTHING_THERE: Final = -32002
_CLIENTS_NAME: Final = 100


def agents_server(
    caller_of: CallerOf, noted: CallNoted | None = None, read: ReadingNoted | None = None
) -> Server[Any]:
    """Return the server; `caller_of` returns the caller of each request.

    `noted` is called for each tool call, `read` for each resource that was read.
    """

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_described_on(caller_of(context).terms))

    async def call_tool(context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        answer: ToolAnswer | None = None
        try:
            answer = await answer_call(caller_of(context), asked.name, asked.arguments or {})
        finally:
            if noted is not None:
                await noted(context, asked.name, answer)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=answer.structured,
            is_error=answer.refused,
        )

    async def list_resources(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        # Resources are named by templates: a row for each state would fill a model's context.
        return types.ListResourcesResult(resources=[])

    async def list_templates(
        context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=item.name,
                    title=item.title,
                    description=item.description,
                    uri_template=item.template,
                    mime_type=item.media_type,
                )
                for item in RESOURCE_TEMPLATES
                if caller_of(context).terms.give(item.tool)
            ]
        )

    async def read_resource(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address, reading = str(asked.uri), None
        try:
            reading = await answer_reading(caller_of(context), address)
        finally:
            if read is not None:
                await read(context, reading)
        return _contents(address, reading)

    async def list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(guide) for guide in GUIDES])

    async def get_prompt(_: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        guide = next((each for each in GUIDES if each.name == asked.name), None)
        if guide is None:
            raise MCPError(types.INVALID_PARAMS, "There is no prompt of this name.")
        return types.GetPromptResult(
            description=guide.description,
            messages=[
                types.PromptMessage(
                    role="user", content=types.TextContent(text=guide.written(asked.arguments or {}))
                )
            ],
        )

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Hearthpay",
        description="Payroll and taxes for US household employers.",
        instructions=INSTRUCTIONS,
        cache_hints={
            "prompts/list": _PUBLIC_HOUR,
            "resources/list": _PUBLIC_HOUR,
            "resources/templates/list": _PUBLIC_HOUR,
        },
        get_tool_input_schema=_no_header_arguments,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    # The SDK's own is its tracing, which nothing of ours collects.
    server.middleware.clear()
    return server


def _no_header_arguments(_tool: str) -> None:
    """Return no schema to check `Mcp-Param-` headers against: no argument of our tools may be repeated in one.

    With a schema the SDK searches all of it for such arguments, for each call; without this, it lists all tools.
    """


def client_of(context: Context) -> str | None:
    """Return the name and version that the agent's program gives, None if it gives none."""
    params = context.session.client_params
    if params is None:
        return None
    return f"{params.client_info.name} {params.client_info.version}"[:_CLIENTS_NAME]


@functools.cache
def _described_on(terms: CallTerms) -> list[types.Tool]:
    return [_described(tool, terms) for tool in TOOLBOX if terms.give(tool.name)]


def _described(tool: AgentTool, terms: CallTerms) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(terms),
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.changes,
            destructive_hint=tool.changes,
            idempotent_hint=not tool.changes,
            open_world_hint=False,
        ),
    )


def _prompt(guide: Guide) -> types.Prompt:
    return types.Prompt(
        name=guide.name,
        title=guide.title,
        description=guide.description,
        arguments=[
            types.PromptArgument(name=name, description=what, required=name in guide.required)
            for name, what in guide.arguments.items()
        ],
    )


def _contents(address: str, reading: Reading) -> types.ReadResourceResult:
    if reading.item is None or reading.code != OK:
        raise MCPError(
            _NOTHING_THERE if reading.code == NOT_FOUND else types.INVALID_REQUEST,
            reading.message,
            {"uri": address, "code": reading.code},
        )
    media_type, content = reading.item.media_type, reading.content
    if media_type == JSON:
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=address, mime_type=JSON, text=content.decode("utf-8"))]
        )
    return types.ReadResourceResult(
        contents=[
            types.BlobResourceContents(
                uri=address, mime_type=media_type, blob=base64.b64encode(content).decode("ascii")
            )
        ]
    )
