"""Laws of people's accounts: each sign-in method, and each operator, has its origin in the account's history.

Each event names the one before it and carries the digest of its contents, so a removed or changed event is detected
unless it is the last. The last events are proved by what they gave: sessions, passwords, passkeys.
"""

from typing import Final

_DIGEST: Final = """
    encode(sha256(convert_to(coalesce(c.password_hash, ''), 'UTF8') || coalesce(c.passkey_id, '')
                  || coalesce(c.public_key, '')), 'hex')
"""


def account_history() -> str:
    """An account's history is unchanged since it was written, from its creation on, with nothing missing in between."""
    return """
        SELECT 'person' AS subject, e.person_id AS id, 'event ' || e.id || ' ' || e.action AS what,
               encode(e.digest, 'hex') AS recorded, encode(person_event_digest(e), 'hex') AS expected
          FROM person_events e WHERE e.digest <> person_event_digest(e)
        UNION ALL
        SELECT 'person', e.person_id, 'event before ' || e.id || ' ' || e.action, 'none', e.before::text
          FROM person_events e LEFT JOIN person_events b ON b.id = e.before AND b.person_id = e.person_id
         WHERE e.before IS NOT NULL AND b.id IS NULL
        UNION ALL
        SELECT 'person', p.id, 'beginning of the account''s history', 'none', 'account.create'
          FROM people p
         WHERE NOT EXISTS (SELECT FROM person_events e WHERE e.person_id = p.id
                              AND e.action IN ('account.create', 'rights.as_of_upgrade'))
    """


def account_ways_in() -> str:
    """Each password, passkey and second factor in force is the one that its event says was set; a password the last."""
    return f"""
        WITH said AS MATERIALIZED (
            SELECT person_id, details ->> 'credential' AS credential, details ->> 'digest' AS digest,
                   details ->> 'kind' = 'password' AND id::text < max(id::text) FILTER (
                       WHERE details ->> 'kind' = 'password') OVER (PARTITION BY person_id) AS replaced
              FROM person_events WHERE jsonb_exists(details, 'credential'))
        SELECT 'person' AS subject, c.person_id AS id, c.kind || ' ' || c.id AS what, {_DIGEST} AS recorded,
               coalesce(CASE WHEN s.replaced THEN 'replaced by a later one' ELSE s.digest END, 'none was set')
               AS expected
          FROM credentials c LEFT JOIN said s ON s.person_id = c.person_id AND s.credential = c.id::text
         WHERE c.ended_at IS NULL
           AND (c.kind IN ('password', 'passkey') OR c.kind = 'totp' AND c.confirmed_at IS NOT NULL)
           AND (s.replaced IS NOT FALSE OR s.digest IS DISTINCT FROM {_DIGEST})
    """


def account_sessions() -> str:
    """Every session was begun by an event of its person's account."""
    return """
        WITH said AS MATERIALIZED (
            SELECT person_id, details ->> 'session' AS session FROM person_events
             WHERE jsonb_exists(details, 'session'))
        SELECT 'person' AS subject, s.person_id AS id, 'session ' || s.id AS what, 'begun by no event' AS recorded,
               'an event' AS expected
          FROM person_sessions s
         WHERE NOT EXISTS (SELECT FROM said e WHERE e.person_id = s.person_id
                              AND e.session = encode(sha256(s.token_hash), 'hex'))
    """


def operator_rights() -> str:
    """Each operator was made an operator, and nobody has revoked it since."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (person_id) person_id,
                   action = 'operator.make' OR action = 'rights.as_of_upgrade' AND details ->> 'operator' = 'true'
                   AS operates
              FROM person_events
             WHERE action IN ('operator.make', 'operator.unmake')
                OR action = 'rights.as_of_upgrade' AND jsonb_exists(details, 'operator')
             ORDER BY person_id, id DESC)
        SELECT 'person' AS subject, p.id, 'operates the installation' AS what,
               (p.operator_since IS NOT NULL)::text AS recorded, coalesce(s.operates, false)::text AS expected
          FROM people p LEFT JOIN said s ON s.person_id = p.id
         WHERE (p.operator_since IS NOT NULL) <> coalesce(s.operates, false)
    """
