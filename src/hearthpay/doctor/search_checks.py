"""The law of the words that households are found by.

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
