"""The law of lines that tax what another line taxes, for work in their state: FUTA's credit reduction."""

import functools

from hearthpay.taxes.rulebook import rulebook_of, supported_years


@functools.cache
def _law() -> str:
    """The lines that follow another, with that line and the state, as rows."""
    rows = {
        (year, line.code): (f"({year}, '{line.code}', '{line.follows}', '{state}')")
        for year in supported_years()
        for state in rulebook_of(year).supported_states
        for line in rulebook_of(year).state(state).contributions
        if line.follows is not None
    }
    return f"law (tax_year, code, follows, state) AS (VALUES {', '.join(rows.values())})"


def following_wages() -> str:
    """A line that follows another never taxes more than it in a year; if all work was in its state, exactly as much.

    While either still owes something, nothing can be concluded. Years with prior wages are left out: how much of the
    wage base those used is only what somebody reported.
    """
    return f"""
        WITH {_law()},
        record AS MATERIALIZED (SELECT id AS employee_id, coalesce(person_id, id) AS person FROM employees),
        year AS (
            SELECT r.person, y.tax_year, u.code, sum(u.taxable) AS taxable
              FROM year_balances y JOIN record r USING (employee_id),
                   unnest(y.codes, y.taxable_wages) AS u (code, taxable)
             WHERE u.code IN (SELECT code FROM law UNION SELECT follows FROM law)
             GROUP BY 1, 2, 3),
        open AS (
            SELECT r.person, y.tax_year, o.key AS code
              FROM year_balances y JOIN record r USING (employee_id), jsonb_each_text(y.owed) AS o),
        paid AS (
            SELECT r.person, c.tax_year, array_agg(DISTINCT c.work_state) AS states
              FROM paychecks c JOIN record r USING (employee_id) GROUP BY 1, 2)
        SELECT 'employee' AS subject, y.person AS id, 'taxable wages of ' || y.code || ' in ' || y.tax_year AS what,
               to_char(y.taxable / 100.0, 'FM99999999999999990.00') AS recorded,
               to_char(coalesce(f.taxable, 0) / 100.0, 'FM99999999999999990.00') AS expected
          FROM year y JOIN law USING (tax_year, code) JOIN paid p USING (person, tax_year)
          LEFT JOIN year f ON f.person = y.person AND f.tax_year = y.tax_year AND f.code = law.follows
         CROSS JOIN LATERAL (SELECT y.taxable - coalesce(f.taxable, 0) AS more) d
         WHERE (d.more > 0 OR d.more < 0 AND p.states = ARRAY[law.state::char(2)])
           AND NOT EXISTS (SELECT FROM open o WHERE o.person = y.person AND o.tax_year = y.tax_year
                                                AND o.code IN (law.code, law.follows))
           AND NOT EXISTS (SELECT FROM prior_wages w JOIN record r USING (employee_id)
                            WHERE r.person = y.person AND w.tax_year = y.tax_year AND w.replaced_by IS NULL)
    """
