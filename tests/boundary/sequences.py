"""Random conversations of four keys with the API, and what must hold after each request.

A step is drawn before there is anything to name: it says which world's key speaks and of which world, and how
manieth, the household, employee or payroll it names shall be. What that is, is looked up when its turn comes.
"""

from dataclasses import dataclass
from typing import Final

import httpx
import psycopg
from hypothesis import strategies as st

from tests.boundary.worlds import Leak, World, fingerprint, ids_in, learn_ids, refuse_changes, refuse_leaks
from tests.endpoints import ACTIONS
from tests.endpoints.endpoint import Request, Step
from tests.openapi.document import Document

#: The same for everybody: what one key claimed says nothing about another world's.
_IDEMPOTENCY_KEYS: Final = ("monday", "tuesday")


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    speaker = draw(st.integers(0, 3))
    # Half of the requests are about the speaker's own world: without its rows there is nothing to protect.
    whose = st.one_of(st.just(speaker), st.integers(0, 3))
    return Step(
        action=draw(st.sampled_from(sorted(ACTIONS))),
        speaker=speaker,
        household=draw(st.one_of(whose, st.none())),
        thing=draw(whose),
        which=draw(st.integers(-2, 1)),
        variant=draw(st.integers(0, 2)),
        idempotency_key=draw(st.sampled_from((None, None, *_IDEMPOTENCY_KEYS))),
    )


def conversations(steps: int) -> st.SearchStrategy[list[Step]]:
    """Lists of steps, mostly of about that length."""
    return st.lists(_steps(), min_size=steps // 2, max_size=steps + steps // 2)


@dataclass
class Conversation:
    """Plays steps and raises Leak as soon as one world learns of another or changes it.

    With a `document`, every answer must also be one that it promises, none may be a failure of the service, and
    nobody may succeed in the name of another.
    """

    client: httpx.AsyncClient
    worlds: list[World]
    owner: psycopg.Connection
    document: Document | None = None
    #: How many requests of each operation succeeded.
    succeeded: dict[str, int] | None = None
    #: Whether a request that fails changes nothing at all; a build without its conditions may fail after its commit.
    whole: bool = True

    async def play(self, steps: list[Step]) -> None:
        """Send one request after the other."""
        before = fingerprint(self.owner)
        for step in steps:
            speaker = self.worlds[step.speaker]
            request = ACTIONS[step.action](step, self.worlds)
            response = await self.client.request(
                request.method,
                f"/api/v1{request.path}",
                json=request.body,
                params=request.query,
                headers=speaker.caller.headers(step.idempotency_key),
            )
            after = fingerprint(self.owner)
            refuse_changes(
                before, after, except_of=speaker if response.is_success or not self.whole else None
            )
            if after != before:
                learn_ids(self.worlds, self.owner)
            refuse_leaks(response, speaker, self.worlds)
            if self.document is not None:
                self._refuse_surprises(step, request, response)
            if self.succeeded is not None and response.is_success:
                self.succeeded[step.action] = self.succeeded.get(step.action, 0) + 1
            before = after

    def _refuse_surprises(self, step: Step, request: Request, response: httpx.Response) -> None:
        assert self.document is not None
        what = f"{step} {request.method} {response.request.url} {response.status_code} {response.text}"
        assert response.status_code < 500, what
        assert self.document.problems(response) == [], what
        if not response.is_success or response.headers.get("Idempotent-Replayed"):
            return
        own = self.worlds[step.speaker]
        if request.about - {step.speaker}:
            raise Leak(f"a request about another world succeeded: {what}")
        asked = ids_in(f"{response.request.url} {response.request.content.decode()}")
        if not response.headers["Content-Type"].startswith(
            "application/json"
        ):  # a file holds none of our ids
            return
        body = response.json()
        known = own.every_id | asked | {str(own.organization_id), body["meta"]["requestId"]}
        if (
            step.action == "listToDos"
        ):  # calculated from the household's id; all other ids in it are looked at
            known |= {each["id"] for each in body["data"]}
        strange = ids_in(response.text) - known
        assert not strange, f"ids that nobody knows, {strange}: {what}"
