"""All tools, in the order in which models read them."""

from __future__ import annotations

from typing import Final

from hearthpay.mcp.tools.agencies import STATE_FILING_STATUS, TAX_CALENDAR, TO_DOS
from hearthpay.mcp.tools.agent_tool import AgentTool
from hearthpay.mcp.tools.autopilot import GET_AUTOPILOT, MANAGE_AUTOPILOT
from hearthpay.mcp.tools.calculations import CALCULATE, CHECK_THRESHOLD
from hearthpay.mcp.tools.lookups import EXPLAIN, HOUSEHOLDS
from hearthpay.mcp.tools.payrolls import GET_PAYROLL, PREVIEW, RUN

TOOLBOX: Final[tuple[AgentTool, ...]] = (
    CALCULATE,
    CHECK_THRESHOLD,
    PREVIEW,
    RUN,
    STATE_FILING_STATUS,
    GET_AUTOPILOT,
    MANAGE_AUTOPILOT,
    HOUSEHOLDS,
    GET_PAYROLL,
    TO_DOS,
    TAX_CALENDAR,
    EXPLAIN,
)
BY_NAME: Final = {tool.name: tool for tool in TOOLBOX}
