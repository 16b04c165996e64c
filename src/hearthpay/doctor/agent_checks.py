"""Laws of agents: their actions are within what a person granted."""


def agents_runs() -> str:
    """Every payroll that an agent has run is within its grant: while it lasted, in its household, with that tool.

    Both times are real time. A payroll is made by its household's clock, which a test clock moves: its row in the audit
    log names the real time, or is itself of it. A call in progress when the agent is disconnected is completed: it has
    a minute.
    """
    return """
        SELECT 'payroll' AS subject, d.id, 'run by the agent ' || coalesce(d.client_name, 'unknown') AS what,
               d.recorded, d.expected
          FROM (SELECT p.id, g.client_name, 'in ' || p.employer_id || ' at ' || r.at AS recorded,
                       coalesce('in ' || g.employer_id || ' from ' || g.created_at || ' to '
                                || least(g.expires_at, g.ended_at)
                                || CASE WHEN 'run_payroll' = ANY(g.tools) THEN '' ELSE ', without that tool' END,
                                'a grant') AS expected,
                       p.employer_id = g.employer_id AND p.organization_id = g.organization_id
                       AND p.sandbox = g.sandbox AND 'run_payroll' = ANY(g.tools) AND r.at >= g.created_at
                       AND r.at < least(g.expires_at, g.ended_at) + interval '1 minute' AS within
                  FROM audit_log a
                  JOIN payrolls p ON p.id = a.subject_id
                  LEFT JOIN agent_grants g ON g.id = a.actor_id
                  LEFT JOIN household_clocks c ON c.employer_id = p.employer_id
                 CROSS JOIN LATERAL (SELECT coalesce(CAST(a.details ->> 'run_at' AS timestamptz),
                                                     CASE WHEN c.employer_id IS NULL THEN p.created_at
                                                          ELSE a.at END) AS at) r
                 WHERE a.actor_kind = 'mcp' AND a.action = 'payroll.run') d
         WHERE d.within IS NOT TRUE
    """
