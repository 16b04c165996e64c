"""Failed attempts of all processes, counted in the Valkey or Redis that counts requests (`RATE_LIMIT_URL`).

A tally is one number: when all its failures will be forgiven, in microseconds since 1970. A script runs alone on the
server, so attempts at the same moment get no more tries than attempts one by one.
"""

import datetime
from collections.abc import Sequence
from typing import Final

from hearthpay.access.throttle import Counted, Tally
from hearthpay.http.rate_limit import SharedCounts

_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_KEPT_LONGER: Final = "300000"  # milliseconds: hosts' clocks may differ

# A Lua number is a double: whole up to 2^53, and microseconds reach that in the year 2255.
_COUNT: Final = """
local now, longer = tonumber(ARGV[1]), tonumber(ARGV[2])
local untils, admitted = {}, true
for i, name in ipairs(KEYS) do
    untils[i] = math.max(now, tonumber(redis.call('GET', name) or '0'))
    if untils[i] - now > tonumber(ARGV[2 * i + 1]) then admitted = false end
end
local told = {admitted and '1' or '0'}
for i, name in ipairs(KEYS) do
    if admitted then
        untils[i] = untils[i] + tonumber(ARGV[2 * i + 2])
        redis.call('SET', name, string.format('%.0f', untils[i]),
                   'PX', string.format('%.0f', math.ceil((untils[i] - now) / 1000) + longer))
    end
    told[i + 1] = string.format('%.0f', untils[i])
end
return told
"""

_FORGIVE: Final = """
local once = #ARGV
for i, name in ipairs(KEYS) do
    if i > once then
        redis.call('DEL', name)
    elseif redis.call('EXISTS', name) == 1 then
        redis.call('SET', name, string.format('%.0f', tonumber(redis.call('GET', name)) - tonumber(ARGV[i])), 'KEEPTTL')
    end
end
return {'1'}
"""


class ValkeyAttempts:
    """Tallies in Valkey or Redis: an `AttemptStore`."""

    def __init__(self, shared: SharedCounts) -> None:
        self._shared = shared

    async def count(self, tallies: Sequence[Tally], now: datetime.datetime) -> Counted | None:
        """Count one attempt for each tally, or for none if one of them must wait; None during an outage."""
        values = [_microseconds(now - _EPOCH), _KEPT_LONGER]
        for each in tallies:
            values += [_microseconds(each.limit.allowed), _microseconds(each.limit.forgiven_after)]
        told = await self._shared.run(_COUNT, [_name(each) for each in tallies], values)
        if told is None:
            return None
        untils = [_EPOCH + int(until) * _MICROSECOND for until in told[1:]]
        names = [each.name for each in tallies]
        return Counted(int(told[0]) == 1, dict(zip(names, untils, strict=True)))

    async def forgive(self, once: Sequence[Tally], entirely: Sequence[Tally]) -> bool:
        """Remove one attempt, or all; return whether the server could be reached."""
        names = [_name(each) for each in (*once, *entirely)]
        values = [_microseconds(each.limit.forgiven_after) for each in once]
        return await self._shared.run(_FORGIVE, names, values) is not None


def _name(counted: Tally) -> str:
    return f"attempts/{counted.name.hex()}"


def _microseconds(time: datetime.timedelta) -> str:
    return str(time // _MICROSECOND)
