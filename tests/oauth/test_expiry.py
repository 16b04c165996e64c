"""What time does away with: questions and tokens long over, and programs that nobody lets in any more."""

from datetime import timedelta

import psycopg

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.oauth.expiry import forget_agents
from tests.oauth.dance import Dance


async def test_what_is_over_is_forgotten_and_what_is_in_force_stays(
    dance: Dance, clock: FixedClock, worker_database: Database, owner_connection: psycopg.Connection
) -> None:
    async def forgotten(limit: int = 10) -> tuple[int, int, int]:
        async with worker_database.transaction(None) as session:
            return await forget_agents(session, clock.now(), limit=limit)

    await dance.tokens(lasts="90")
    await dance.register()
    await dance.ask()
    await dance.consent(await dance.ask(), decision="no")
    clock.advance(timedelta(minutes=30))
    assert await forgotten() == (0, 0, 0)
    clock.advance(timedelta(seconds=1))
    assert await forgotten(1) == (0, 1, 0)
    assert await forgotten() == (0, 1, 0), (
        "what gave nobody anything; the answered one tells a code that comes twice"
    )
    clock.advance(timedelta(hours=25))
    assert await forgotten() == (1, 0, 0), "the program that nobody has let in"
    clock.advance(timedelta(days=30))
    assert await forgotten() == (0, 1, 1), (
        "the question, and the access token; the refresh token is not long over"
    )
    clock.advance(timedelta(days=60))
    assert await forgotten(1) == (1, 0, 1), "the grant has ended by itself, and so has its program"
    assert await forgotten() == (0, 0, 0)
    [(grants,)] = owner_connection.execute("SELECT count(*) FROM agent_grants").fetchall()
    assert grants == 1, "what was given stays on record"
