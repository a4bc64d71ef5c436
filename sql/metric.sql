-- Every statement on metric_* and the view `metric`.

-- name: metric_list :many
-- All figures, in the order of the OpenMetrics text.
-- type: name text
-- type: labels text
-- type: value text
SELECT m.family, f.type, f.unit, f.help, m.name, m.labels, CAST(printf('%.15g', m.value) AS TEXT) AS value
  FROM metric AS m JOIN metric_family AS f ON f.family = m.family
 ORDER BY m.family, m.series, m.part, m.place;

-- name: metric_behind :number
-- How many rows of a table are not in metric_tally yet.
SELECT max(max(0, h.seq - c.upto)) AS count
  FROM metric_head AS h JOIN metric_cursor AS c ON c.noun = h.noun;

-- name: metric_stretch_begin :exec
-- From here to metric_stretch_end, metric_recent has the next :limit rows of each table only.
UPDATE metric_cursor
   SET until = (SELECT min(h.seq, metric_cursor.upto + :limit)
                  FROM metric_head AS h WHERE h.noun = metric_cursor.noun);

-- name: metric_tally_add :exec
INSERT INTO metric_tally (family, labels, le, value)
SELECT family, labels, le, sum(value) FROM metric_recent WHERE true GROUP BY family, labels, le
    ON CONFLICT (family, labels, le) DO UPDATE SET value = value + excluded.value;

-- name: metric_stretch_end :exec
UPDATE metric_cursor SET upto = max(upto, until), until = 9223372036854775807;
