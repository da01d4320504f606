"""Queries whose failure would tell of hidden rows, if an engine looked at those.

Every expression fails on the states or moments of hidden entities and on none of the exposed ones; every place is one
from which some engine moves conditions to where the tables are read.
"""

_FAILING = {
    "sqlite": (
        "json_extract({s}.state, '$') > 0",
        "json_extract(CASE WHEN {s}.state = 'CANARYSTATE' THEN 'no json' ELSE '1' END, '$') = 1",
        "json_extract(CASE WHEN {s}.last_updated_ts > 1800000000 THEN 'no json' ELSE '1' END, '$') = 1",
        "abs(-9223372036854775807 - ({s}.state = 'CANARYSTATE')) > 0",
        "({s}.state -> '$') IS NOT NULL",
        "json_extract('{{}}', CASE WHEN {s}.state = 'CANARYSTATE' THEN 'no path' ELSE '$' END) IS NOT NULL",
    ),
    "postgresql": (
        "CAST({s}.state AS numeric) > -1000",
        "1 / (CASE WHEN {s}.state = 'CANARYSTATE' THEN 0 ELSE 1 END) = 1",
        "1 / (CASE WHEN {s}.last_updated_ts > 1800000000 THEN 0 ELSE 1 END) = 1",
        "to_timestamp({s}.last_updated_ts * (CASE WHEN {s}.metadata_id > 2 THEN 1e300 ELSE 1 END)) > to_timestamp(0)",
        "({s}.state::json ->> 'a') IS NULL",
        "sqrt(1800000000 - {s}.last_updated_ts) >= 0",
        "CAST(coalesce(NULLIF({s}.state, 'CANARYSTATE'), 'x') AS double precision) > -1000",
        "'a' ~ (CASE WHEN {s}.state = 'CANARYSTATE' THEN '(' ELSE 'a' END)",
    ),
    "mariadb": (
        "exp({s}.last_updated_ts - 1799999000) >= 0",
        "9223372036854775807 + ({s}.state = 'CANARYSTATE') > 0",
        "pow(10, if({s}.state = 'CANARYSTATE', 400, 1)) > 0",
        "(SELECT 1 UNION SELECT if({s}.state = 'CANARYSTATE', 2, 1)) = 1",
        "exp(if({s}.state = 'CANARYSTATE', 800, 1)) > 0",
        "9223372036854775807 + ({s}.last_updated_ts > 1800000000) > 0",
    ),
}

_PLACES = (
    "SELECT count(*) AS n FROM states s WHERE {s}",
    "SELECT count(*) AS n FROM states s WHERE s.last_updated_ts > 1500000000 AND {s}",
    "SELECT count(*) AS n FROM states s WHERE s.metadata_id = 1 AND {s}",
    "SELECT count(*) AS n FROM states s WHERE s.state_id > 0 AND NOT ({s} AND s.metadata_id = 3)",
    "SELECT count(*) AS n FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id AND {s}",
    "SELECT count(*) AS n FROM states_meta m LEFT JOIN states s ON m.metadata_id = s.metadata_id AND {s}",
    "SELECT count(*) AS n FROM states_meta m JOIN states s ON m.metadata_id = s.metadata_id WHERE m.entity_id = 'sensor.temperature' AND {s}",
    "SELECT s.metadata_id, count(*) AS n FROM states s GROUP BY s.metadata_id, s.state, s.last_updated_ts HAVING {s} ORDER BY 1, 2 LIMIT 5",
    "SELECT count(*) AS n FROM (SELECT * FROM states) s WHERE {s}",
    "WITH s AS (SELECT * FROM states) SELECT count(*) AS n FROM s WHERE {s}",
    "SELECT count(*) AS n FROM (SELECT CASE WHEN {s} THEN 1 ELSE 0 END AS v, s.metadata_id FROM states s) x WHERE x.v = 1 AND x.metadata_id > 0",
    "SELECT count(*) AS n FROM (SELECT CASE WHEN {s} THEN 1 ELSE 0 END AS v FROM states s UNION ALL SELECT 1) x WHERE x.v = 1",
    "SELECT max(v) AS n FROM (SELECT CASE WHEN {s} THEN 1 ELSE 0 END AS v FROM states s GROUP BY 1) x WHERE x.v >= 0",
    "SELECT count(*) AS n FROM states_meta m WHERE EXISTS (SELECT 1 FROM states s WHERE s.metadata_id = m.metadata_id AND {s})",
    "SELECT count(*) AS n FROM states_meta m WHERE 1 IN (SELECT CASE WHEN {s} THEN 1 ELSE 0 END FROM states s)",
    "SELECT count(*) AS n FROM states_meta m WHERE m.metadata_id IN (SELECT CASE WHEN {s} THEN s.metadata_id ELSE 0 END FROM states s WHERE s.metadata_id = m.metadata_id)",
    "SELECT m.metadata_id, (SELECT count(*) FROM states s WHERE s.metadata_id = m.metadata_id AND {s}) AS n FROM states_meta m ORDER BY 1",
    "SELECT count(*) AS n FROM states s WHERE s.state <> '' AND CASE WHEN {s} THEN 1 ELSE 0 END = 1",
    "SELECT count(*) AS n FROM states s WHERE s.metadata_id NOT IN (SELECT metadata_id FROM statistics) OR {s}",
    "SELECT count(*) AS n FROM states s CROSS JOIN states_meta m WHERE m.metadata_id = s.metadata_id AND {s}",
)


def queries() -> list[str]:
    """Return every failing expression in every place."""
    failing = [each for engine in _FAILING.values() for each in engine]
    return [place.replace("{s}", f"({each.format(s='s')})") for each in failing for place in _PLACES]
