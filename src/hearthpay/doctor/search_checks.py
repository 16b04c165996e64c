"""The laws of what lists find households, employees and payrolls by: words, and clients' metadata.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""


def household_words() -> str:
    """A household is found by the words of its name and state and of its employees' names, and by no others."""
    return """
        WITH expected AS (
            SELECT e.id AS employer_id, e.id AS owner_id, w.word
              FROM employers e CROSS JOIN words_of_names(e.first_name, e.last_name, e.state::text) AS w (word)
             UNION ALL
            SELECT e.employer_id, e.id, w.word
              FROM employees e CROSS JOIN words_of_names(e.first_name, e.last_name) AS w (word)
        )
        SELECT 'household_words' AS subject, coalesce(k.employer_id, x.employer_id) AS id, 'word' AS what,
               k.word AS recorded, x.word AS expected
          FROM household_words k FULL JOIN expected x USING (employer_id, owner_id, word)
         WHERE k.word IS NULL OR x.word IS NULL
    """


def metadata_entries() -> str:
    """Lists are filtered by the metadata that households, employees and payrolls have, and by no other."""
    return """
        WITH expected AS (
            SELECT e.id AS employer_id, e.id AS object_id, 'employer' AS object_type, m.key, m.value
              FROM employers e CROSS JOIN jsonb_each_text(e.metadata) AS m WHERE e.metadata <> '{}'
             UNION ALL
            SELECT e.employer_id, e.id, 'employee', m.key, m.value
              FROM employees e CROSS JOIN jsonb_each_text(e.metadata) AS m WHERE e.metadata <> '{}'
             UNION ALL
            SELECT p.employer_id, p.id, 'payroll', m.key, m.value
              FROM payrolls p CROSS JOIN jsonb_each_text(p.metadata) AS m WHERE p.metadata <> '{}'
        )
        SELECT coalesce(k.object_type, x.object_type) AS subject, coalesce(k.object_id, x.object_id) AS id,
               'metadata key ' || coalesce(k.key, x.key) AS what,
               k.object_type || ', value with hash ' || left(md5(k.value), 8) AS recorded,
               x.object_type || ', value with hash ' || left(md5(x.value), 8) AS expected
          FROM metadata_entries k FULL JOIN expected x USING (employer_id, object_id, key)
         WHERE (k.value, k.object_type) IS DISTINCT FROM (x.value, x.object_type)
    """
