"""The statements that read functions, types, rights and roles as facts."""

from __future__ import annotations

from typing import Final

from hearthpay.database.catalog.relation_facts import OURS, FactRow
from hearthpay.database.typed_rows import Query, query

# The text of a function stands last, after a line break: the fact has a digest of it.
_FUNCTIONS: Final = query(
    FactRow,
    """
    SELECT 'function' AS kind, p.oid::regprocedure::text AS name,
           concat_ws(', ', 'owner <' || pg_get_userbyid(p.proowner) || '>',
                     'returns ' || CASE WHEN p.proretset THEN 'set of ' ELSE '' END || format_type(p.prorettype, NULL),
                     'language ' || l.lanname,
                     CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END,
                     CASE WHEN p.proisstrict THEN 'strict' END,
                     CASE WHEN p.prosecdef THEN 'security definer' END,
                     CASE WHEN p.proleakproof THEN 'leakproof' END,
                     'set ' || array_to_string(p.proconfig, '; '))
               || E'\\n' || p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '') AS value
      FROM pg_proc p
      JOIN pg_namespace n ON n.oid = p.pronamespace
      JOIN pg_language l ON l.oid = p.prolang
     WHERE {ours} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    """,
    ours=OURS,
)

_OTHER_OBJECTS: Final = query(
    FactRow,
    """
    SELECT 'type' AS kind, t.oid::regtype::text AS name,
           coalesce((SELECT 'enum ' || string_agg(e.enumlabel, ', ' ORDER BY e.enumlabel) FROM pg_enum e
                      WHERE e.enumtypid = t.oid),
                    (SELECT 'composite ' || string_agg(quote_ident(a.attname) || ' '
                                                       || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
                       FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped),
                    CASE t.typtype WHEN 'd' THEN 'domain ' || format_type(t.typbasetype, t.typtypmod)
                                   ELSE 'range' END)
               || ', owner <' || pg_get_userbyid(t.typowner) || '>' AS value
      FROM pg_type t
      JOIN pg_namespace n ON n.oid = t.typnamespace
      LEFT JOIN pg_class c ON c.oid = t.typrelid
     WHERE (t.typtype IN ('e', 'd', 'r') OR c.relkind = 'c') AND {ours}
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
    UNION ALL
    SELECT 'schema', n.nspname::text, 'owner <' || pg_get_userbyid(n.nspowner) || '>'
      FROM pg_namespace n WHERE {ours} AND n.nspname <> 'public'
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = n.oid AND d.deptype = 'e')
    UNION ALL
    SELECT 'extension', x.extname::text, 'installed' FROM pg_extension x WHERE x.extname <> 'plpgsql'
    """,
    ours=OURS,
)

# The owner's own rights go without saying. Of PostgreSQL's own objects, only what our two roles were given.
_RIGHTS: Final = query(
    FactRow,
    """
    WITH granted AS (
        SELECT 'database' AS object, 'public'::name AS nspname, datdba AS owner, a.*
          FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) a
         WHERE datname = current_database()
        UNION ALL
        SELECT 'schema ' || quote_ident(n.nspname), n.nspname, n.nspowner, a.*
          FROM pg_namespace n, aclexplode(n.nspacl) a
        UNION ALL
        SELECT CASE c.relkind WHEN 'S' THEN 'sequence ' ELSE 'table ' END || c.oid::regclass, n.nspname, c.relowner, a.*
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a
        UNION ALL
        SELECT 'column ' || c.oid::regclass || '.' || quote_ident(t.attname), n.nspname, c.relowner, a.*
          FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
               aclexplode(t.attacl) a
         WHERE NOT t.attisdropped
        UNION ALL
        SELECT 'function ' || p.oid::regprocedure, n.nspname, p.proowner, a.*
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace,
               aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        UNION ALL
        SELECT 'future ' || CASE f.defaclobjtype WHEN 'r' THEN 'tables' WHEN 'S' THEN 'sequences'
                                                 WHEN 'f' THEN 'functions' WHEN 'T' THEN 'types'
                                                 WHEN 'n' THEN 'schemas' ELSE 'objects' END
                         || ' of <' || pg_get_userbyid(f.defaclrole) || '>', 'public', f.defaclrole, a.*
          FROM pg_default_acl f, aclexplode(f.defaclacl) a
        UNION ALL
        SELECT 'parameter ' || p.parname, 'public', 10, a.*
          FROM pg_parameter_acl p, aclexplode(p.paracl) a
    )
    SELECT 'right' AS kind,
           object || ' to ' || CASE grantee WHEN 0 THEN 'PUBLIC' ELSE '<' || pg_get_userbyid(grantee) || '>' END
               AS name,
           string_agg(DISTINCT privilege_type || CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END, ', ')
               AS value
      FROM granted n
     WHERE grantee <> owner
       AND ({ours} OR grantee IN (SELECT oid FROM pg_roles WHERE rolname IN (:service, :worker)))
     GROUP BY 1, 2
    """,
    ours=OURS,
)

_ROLES: Final = query(
    FactRow,
    """
    SELECT 'role' AS kind, '<' || r.rolname || '>' AS name,
           concat_ws(', ', 'acts here', CASE WHEN r.rolsuper THEN 'SUPERUSER' END,
                     CASE WHEN r.rolbypassrls THEN 'BYPASSRLS' END,
                     CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END, CASE WHEN r.rolcreatedb THEN 'CREATEDB' END,
                     CASE WHEN r.rolreplication THEN 'REPLICATION' END) AS value
      FROM pg_roles r WHERE r.rolname IN (:service, :worker)
    UNION ALL
    SELECT 'membership', '<' || r.rolname || '> in <' || g.rolname || '>', 'member'
      FROM pg_auth_members m
      JOIN pg_roles r ON r.oid = m.member AND r.rolname IN (:service, :worker)
      JOIN pg_roles g ON g.oid = m.roleid
    UNION ALL
    SELECT 'setting', split_part(c, '=', 1) || ' of ' || coalesce('<' || r.rolname || '>', 'everybody'),
           split_part(c, '=', 2)
      FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole
     CROSS JOIN LATERAL unnest(s.setconfig) AS c
     WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
       AND (s.setrole = 0 OR r.rolname IN (:service, :worker)) AND c LIKE 'session_replication_role=%'
    """,
)

OBJECT_QUERIES: Final[tuple[Query[FactRow], ...]] = (_FUNCTIONS, _OTHER_OBJECTS)

ROLE_QUERIES: Final[tuple[Query[FactRow], ...]] = (_RIGHTS, _ROLES)
"""These ask for the names of the roles, `service` and `worker`."""
