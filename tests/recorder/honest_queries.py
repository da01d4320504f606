# ruff: noqa: S608 - these queries are constants
"""Questions that people ask of their home's past, as queries that every engine must answer.

Where the engines differ, a query names what it means, like @hour(s.last_updated_ts); write() puts in each engine's words.
"""

_WORDS = {
    "sqlite": {
        "number": "CAST({0} AS REAL)",
        "text": "CAST({0} AS TEXT)",
        "whole": "CAST({0} AS INTEGER)",
        "hour": "strftime('%H', {0}, 'unixepoch')",
        "day": "date({0}, 'unixepoch')",
        "month": "strftime('%Y-%m', {0}, 'unixepoch')",
        "weekday": "strftime('%w', {0}, 'unixepoch')",
        "now": "unixepoch()",
        "json": "json_extract({0}, '$.{1}')",
        "list": "group_concat({0}, ',')",
    },
    "postgresql": {
        "number": "CAST({0} AS DOUBLE PRECISION)",
        "text": "CAST({0} AS TEXT)",
        "whole": "CAST(trunc({0}) AS BIGINT)",
        "hour": "to_char(to_timestamp({0}) AT TIME ZONE 'UTC', 'HH24')",
        "day": "to_char(to_timestamp({0}) AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
        "month": "to_char(to_timestamp({0}) AT TIME ZONE 'UTC', 'YYYY-MM')",
        "weekday": "extract(dow FROM to_timestamp({0}) AT TIME ZONE 'UTC')",
        "now": "extract(epoch FROM now())",
        "json": "({0}::json ->> '{1}')",
        "list": "string_agg({0}, ',')",
    },
    "mariadb": {
        "number": "CAST({0} AS DOUBLE)",
        "text": "CAST({0} AS CHAR)",
        "whole": "CAST(floor({0}) AS SIGNED)",
        "hour": "date_format(from_unixtime({0}), '%H')",
        "day": "date_format(from_unixtime({0}), '%Y-%m-%d')",
        "month": "date_format(from_unixtime({0}), '%Y-%m')",
        "weekday": "dayofweek(from_unixtime({0})) - 1",
        "now": "unix_timestamp()",
        "json": "json_value({0}, '$.{1}')",
        "list": "group_concat({0} SEPARATOR ',')",
    },
}


def write(query: str, engine: str) -> str:
    """Return a query in the words of an engine."""
    while (start := query.rfind("@")) >= 0:  # The last one has no other inside it.
        name, rest = query[start + 1 :].split("(", maxsplit=1)
        depth = end = 0
        while depth >= 0:
            depth += {"(": 1, ")": -1}.get(rest[end], 0)
            end += 1
        inside = rest[: end - 1]
        arguments = [part.strip() for part in inside.split(",")] if name == "json" else [inside]
        query = f"{query[:start]}{_WORDS[engine][name].format(*arguments)}{rest[end:]}"
    return query


_READINGS = "WITH r AS (SELECT m.entity_id, s.state, s.last_updated_ts FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE m.entity_id = 'sensor.temperature') "
HONEST = (
    # Single values
    "SELECT count(*) AS n FROM states",
    "SELECT count(*) AS n FROM states_meta",
    "SELECT min(last_updated_ts) AS first_ts, max(last_updated_ts) AS last_ts FROM states",
    "SELECT entity_id FROM states_meta ORDER BY entity_id",
    "SELECT entity_id FROM states_meta WHERE entity_id LIKE 'sensor.%' ORDER BY entity_id DESC",
    "SELECT statistic_id, unit_of_measurement FROM statistics_meta ORDER BY statistic_id",
    "SELECT count(DISTINCT state) AS n FROM states WHERE metadata_id = 5",
    "SELECT 1 + 1 AS two",
    # One entity
    "SELECT state, last_updated_ts FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE m.entity_id = 'light.kitchen' ORDER BY last_updated_ts DESC LIMIT 5",
    "SELECT s.state FROM states s WHERE s.metadata_id = (SELECT metadata_id FROM states_meta WHERE entity_id = 'light.kitchen') ORDER BY s.last_updated_ts LIMIT 3",
    "SELECT s.state, count(*) AS n FROM states s JOIN states_meta m USING (metadata_id) WHERE m.entity_id = :entity GROUP BY s.state ORDER BY n DESC, s.state",
    "SELECT avg(@number(s.state)) AS mean, min(@number(s.state)) AS low, max(@number(s.state)) AS high FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE m.entity_id = 'sensor.temperature'",
    "SELECT count(*) AS n FROM states s, states_meta m WHERE s.metadata_id = m.metadata_id AND m.entity_id = 'sensor.temperature' AND @number(s.state) > 22",
    "SELECT max(@number(state)) AS high FROM states WHERE metadata_id = 1 AND last_updated_ts BETWEEN 1700050000 AND 1700150000",
    "SELECT @day(last_updated_ts) AS day, round(@number(avg(@number(state)))) AS mean FROM states WHERE metadata_id = 1 GROUP BY @day(last_updated_ts) ORDER BY day",
    "SELECT @hour(last_updated_ts) AS hour, max(@number(state)) AS high FROM states WHERE metadata_id = 1 GROUP BY @hour(last_updated_ts) ORDER BY high DESC, hour LIMIT 6",
    "SELECT @weekday(last_updated_ts) AS w, count(*) AS n FROM states WHERE metadata_id = 6 GROUP BY @weekday(last_updated_ts) ORDER BY w",
    "SELECT state FROM states WHERE metadata_id = 1 AND state LIKE '20%' ORDER BY last_updated_ts",
    "SELECT state, last_changed_ts FROM states WHERE last_changed_ts IS NOT NULL AND metadata_id IN (1, 2) ORDER BY state_id",
    "SELECT coalesce(last_changed_ts, last_updated_ts) AS changed_ts FROM states WHERE metadata_id = 5 ORDER BY 1 LIMIT 4",
    "SELECT count(*) AS n FROM states WHERE metadata_id = 5 AND state NOT IN ('unavailable', 'unknown')",
    "SELECT count(*) AS n FROM states WHERE last_updated_ts > @now() - 86400 * 3650",
    "SELECT count(*) AS n FROM states WHERE last_updated_ts < @now() - 3600 AND metadata_id = 2",
    "SELECT s.state FROM states s WHERE s.metadata_id = 5 AND s.last_updated_ts <= 1700100000 ORDER BY s.last_updated_ts DESC LIMIT 1",
    "SELECT CASE WHEN @number(state) >= 23 THEN 'warm' ELSE 'cold' END AS feel, count(*) AS n FROM states WHERE metadata_id = 1 GROUP BY CASE WHEN @number(state) >= 23 THEN 'warm' ELSE 'cold' END ORDER BY 1",
    "SELECT sum(CASE WHEN state = 'on' THEN 1 ELSE 0 END) AS ons, sum(CASE WHEN state = 'off' THEN 1 ELSE 0 END) AS offs FROM states WHERE metadata_id = 6",
    # Several entities
    "SELECT m.entity_id, count(*) AS n FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id GROUP BY m.entity_id ORDER BY n DESC, m.entity_id",
    "SELECT m.entity_id, max(s.last_updated_ts) AS last_ts FROM states_meta m LEFT JOIN states s ON s.metadata_id = m.metadata_id GROUP BY m.entity_id ORDER BY m.entity_id",
    "SELECT m.entity_id, (SELECT s.state FROM states s WHERE s.metadata_id = m.metadata_id ORDER BY s.last_updated_ts DESC LIMIT 1) AS latest FROM states_meta m ORDER BY m.entity_id",
    "SELECT m.entity_id, s.state FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE s.last_updated_ts = (SELECT max(x.last_updated_ts) FROM states x WHERE x.metadata_id = s.metadata_id) ORDER BY 1",
    "SELECT m.entity_id FROM states_meta m WHERE NOT EXISTS (SELECT 1 FROM states s WHERE s.metadata_id = m.metadata_id AND s.last_updated_ts > 1700213000) ORDER BY 1",
    "SELECT m.entity_id FROM states_meta m WHERE m.metadata_id IN (SELECT metadata_id FROM states WHERE state = 'unavailable')",
    "SELECT count(*) AS n FROM states WHERE metadata_id IN (SELECT metadata_id FROM states_meta WHERE entity_id LIKE 'sensor.%')",
    "SELECT count(*) AS n FROM states WHERE metadata_id NOT IN (SELECT metadata_id FROM states_meta WHERE entity_id LIKE 'sensor.%')",
    "SELECT m.entity_id, count(*) AS n FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id WHERE s.state = 'unavailable' GROUP BY m.entity_id HAVING count(*) > 1",
    "SELECT m.entity_id, @day(s.last_updated_ts) AS day, count(*) AS n FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id GROUP BY m.entity_id, @day(s.last_updated_ts) ORDER BY 1, 2",
    "SELECT entity_id, length(entity_id) AS l, upper(entity_id) AS u FROM states_meta ORDER BY l, entity_id",
    "SELECT replace(entity_id, 'sensor.', '') AS name FROM states_meta WHERE entity_id LIKE 'sensor.%' ORDER BY 1",
    "SELECT @list(entity_id) AS names FROM states_meta WHERE metadata_id = 1",
    "SELECT a.entity_id AS one, b.entity_id AS other FROM states_meta a JOIN states_meta b ON a.metadata_id < b.metadata_id ORDER BY 1, 2",
    # Windows
    "SELECT state, last_updated_ts - lag(last_updated_ts) OVER (ORDER BY last_updated_ts) AS gap FROM states WHERE metadata_id = 5 ORDER BY last_updated_ts LIMIT 8",
    "SELECT state, row_number() OVER (PARTITION BY state ORDER BY last_updated_ts) AS n FROM states WHERE metadata_id = 6 ORDER BY state, n",
    "SELECT x.state, count(*) AS changes FROM (SELECT state, lag(state) OVER (ORDER BY last_updated_ts) AS previous FROM states WHERE metadata_id = 6) x WHERE x.previous IS NULL OR x.previous <> x.state GROUP BY x.state ORDER BY x.state",
    "SELECT x.state, sum(x.seconds) AS seconds FROM (SELECT state, lead(last_updated_ts) OVER (ORDER BY last_updated_ts) - last_updated_ts AS seconds FROM states WHERE metadata_id = 5) x GROUP BY x.state ORDER BY x.state",
    "SELECT avg(@number(state)) OVER (ORDER BY last_updated_ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth FROM states WHERE metadata_id = 1 ORDER BY last_updated_ts LIMIT 10",
    "SELECT x.entity_id, x.state FROM (SELECT m.entity_id, s.state, rank() OVER (PARTITION BY s.metadata_id ORDER BY s.last_updated_ts DESC) AS r FROM states s JOIN states_meta m ON m.metadata_id = s.metadata_id) x WHERE x.r <= 2 ORDER BY 1, 2",
    "SELECT state, first_value(state) OVER w AS f, last_value(state) OVER w AS l FROM states WHERE metadata_id = 2 WINDOW w AS (ORDER BY last_updated_ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY state_id LIMIT 3",
    "SELECT ntile(4) OVER (ORDER BY mean) AS quarter, mean FROM statistics WHERE metadata_id = 1 ORDER BY mean LIMIT 12",
    # WITH
    _READINGS + "SELECT count(*) AS n, avg(@number(r.state)) AS mean FROM r",
    _READINGS
    + "SELECT @hour(r.last_updated_ts) AS hour, avg(@number(r.state)) AS mean FROM r GROUP BY @hour(r.last_updated_ts) ORDER BY 1",
    _READINGS
    + "SELECT a.state FROM r a WHERE @number(a.state) = (SELECT max(@number(b.state)) FROM r b) ORDER BY a.last_updated_ts",
    "WITH daily AS (SELECT metadata_id, @day(last_updated_ts) AS day, count(*) AS n FROM states GROUP BY metadata_id, @day(last_updated_ts)) SELECT m.entity_id, max(d.n) AS busiest FROM daily d JOIN states_meta m ON m.metadata_id = d.metadata_id GROUP BY m.entity_id ORDER BY 1",
    "WITH latest AS (SELECT metadata_id, max(last_updated_ts) AS ts FROM states GROUP BY metadata_id) SELECT m.entity_id, s.state FROM latest l JOIN states s ON s.metadata_id = l.metadata_id AND s.last_updated_ts = l.ts JOIN states_meta m ON m.metadata_id = s.metadata_id ORDER BY 1",
    "WITH a AS (SELECT * FROM states WHERE metadata_id = 5), b AS (SELECT state, count(*) AS n FROM a GROUP BY state) SELECT * FROM b ORDER BY state",
    "WITH RECURSIVE hours(h) AS (SELECT 0 UNION ALL SELECT h + 1 FROM hours WHERE h < 23) SELECT count(*) AS n, max(h) AS last FROM hours",
    "WITH RECURSIVE steps(t) AS (SELECT 1700000000 UNION ALL SELECT t + 21600 FROM steps WHERE t < 1700100000) SELECT steps.t, count(s.state_id) AS n FROM steps LEFT JOIN states s ON s.last_updated_ts >= steps.t AND s.last_updated_ts < steps.t + 21600 GROUP BY steps.t ORDER BY steps.t",
    # Parts of plain SQL that nobody thinks of
    "SELECT count(*) AS n FROM states WHERE CURRENT_TIMESTAMP IS NOT NULL AND CURRENT_DATE IS NOT NULL AND CURRENT_TIME IS NOT NULL",
    "SELECT entity_id FROM states_meta WHERE entity_id LIKE 'sensor!.%' ESCAPE '!' ORDER BY entity_id",
    "SELECT entity_id FROM states_meta WHERE entity_id NOT LIKE 'sensor!.%' ESCAPE '!' ORDER BY entity_id",
    "SELECT state_id, CASE WHEN metadata_id = 5 THEN 1 END AS five FROM states ORDER BY state_id LIMIT 5",
    "SELECT count(*) AS n FROM states WHERE -metadata_id < -2 AND last_updated_ts > -5",
    "SELECT CAST(mean AS DECIMAL(6, 2)) AS d FROM statistics WHERE metadata_id = 1 ORDER BY start_ts LIMIT 3",
    # Sets
    "SELECT state FROM states WHERE metadata_id = 5 UNION SELECT state FROM states WHERE metadata_id = 6 ORDER BY state",
    "SELECT 'states' AS kind, count(*) AS n FROM states UNION ALL SELECT 'statistics', count(*) FROM statistics ORDER BY kind",
    "SELECT state FROM states WHERE metadata_id = 5 EXCEPT SELECT state FROM states WHERE metadata_id = 6",
    "SELECT state FROM states WHERE metadata_id = 5 INTERSECT SELECT state FROM states WHERE metadata_id = 6 ORDER BY 1",
    "SELECT DISTINCT metadata_id, state FROM states WHERE metadata_id IN (5, 6) ORDER BY metadata_id, state",
    # Attributes
    "SELECT @json(a.shared_attrs, friendly_name) AS name FROM state_attributes a ORDER BY 1",
    "SELECT DISTINCT m.entity_id, @json(a.shared_attrs, unit_of_measurement) AS unit FROM states s JOIN state_attributes a ON a.attributes_id = s.attributes_id JOIN states_meta m ON m.metadata_id = s.metadata_id ORDER BY 1",
    "SELECT count(*) AS n FROM states s JOIN state_attributes a USING (attributes_id) WHERE @json(a.shared_attrs, friendly_name) = 'Kitchen'",
    # Statistics
    "SELECT m.statistic_id, avg(s.mean) AS mean, min(s.min) AS low, max(s.max) AS high FROM statistics s JOIN statistics_meta m ON m.id = s.metadata_id GROUP BY m.statistic_id ORDER BY m.statistic_id",
    "SELECT @day(start_ts) AS day, max(sum) - min(sum) AS used FROM statistics WHERE metadata_id = 2 GROUP BY @day(start_ts) ORDER BY day",
    "SELECT start_ts, mean FROM statistics WHERE metadata_id = 1 AND mean > (SELECT avg(mean) FROM statistics WHERE metadata_id = 1) ORDER BY start_ts",
    "SELECT start_ts, sum - lag(sum) OVER (ORDER BY start_ts) AS used FROM statistics WHERE metadata_id = 2 ORDER BY start_ts LIMIT 5",
    "SELECT count(*) AS n, count(sum) AS sums FROM statistics_short_term",
    "SELECT s.start_ts, s.mean, t.mean AS other FROM statistics s JOIN statistics t ON t.start_ts = s.start_ts AND t.metadata_id = 2 WHERE s.metadata_id = 1 ORDER BY s.start_ts LIMIT 5",
    "SELECT @month(start_ts) AS month, avg(mean) AS mean FROM statistics WHERE metadata_id = 1 GROUP BY @month(start_ts) ORDER BY 1",
    "SELECT m.statistic_id FROM statistics_meta m WHERE m.has_sum ORDER BY 1",
    "SELECT floor((start_ts - 1700000000) / 21600) AS part, avg(mean) AS mean FROM statistics WHERE metadata_id = 1 GROUP BY floor((start_ts - 1700000000) / 21600) ORDER BY part",
    "SELECT round(@number(mean)) AS r, count(*) AS n FROM statistics WHERE metadata_id = 1 GROUP BY round(@number(mean)) ORDER BY r",
    "SELECT nullif(min, 19) AS m, count(*) AS n FROM statistics WHERE metadata_id = 1 GROUP BY nullif(min, 19) ORDER BY n, m",
    "SELECT abs(min - max) AS span FROM statistics WHERE metadata_id = 1 ORDER BY span DESC, start_ts LIMIT 3",
)
