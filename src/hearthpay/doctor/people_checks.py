"""Laws of access: organizations keep an owner, and everyone keeps a way into their account."""


def owners() -> str:
    """An organization that has people has an owner among them."""
    return """
        SELECT 'organization' AS subject, organization_id AS id, 'owners' AS what, '0' AS recorded,
               'one at least' AS expected
          FROM memberships WHERE ended_at IS NULL
         GROUP BY organization_id HAVING NOT bool_or(role = 'owner')
    """


def ways_in() -> str:
    """Everyone has a password or a passkey in force; recovery codes accompany a second factor."""
    return """
        SELECT 'person' AS subject, p.id, 'ways into the account' AS what, '0' AS recorded, 'one at least' AS expected
          FROM people p
         WHERE NOT EXISTS (SELECT FROM credentials c WHERE c.person_id = p.id AND c.ended_at IS NULL
                              AND c.kind IN ('password', 'passkey'))
        UNION ALL
        SELECT 'person', c.person_id, 'recovery codes in force', count(*)::text, '0'
          FROM credentials c
         WHERE c.kind = 'recovery_code' AND c.ended_at IS NULL
           AND NOT EXISTS (SELECT FROM credentials f WHERE f.person_id = c.person_id AND f.kind = 'totp'
                              AND f.ended_at IS NULL AND f.confirmed_at IS NOT NULL)
         GROUP BY c.person_id
    """
