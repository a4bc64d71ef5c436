-- No number is given twice: each of the two tables also refuses a row that has such a seq.

-- The number of the next row.
CREATE VIEW tool_call_next AS
SELECT max(f.seq, coalesce((SELECT max(seq) FROM tool_call), 0)) + 1 AS seq
  FROM seq_floor AS f WHERE f.noun = 'tool_call';

-- The number of the next row.
CREATE VIEW gate_call_next AS
SELECT max(f.seq, coalesce((SELECT max(seq) FROM gate_call), 0)) + 1 AS seq
  FROM seq_floor AS f WHERE f.noun = 'gate_call';

CREATE TRIGGER tool_call_leaves_its_seq BEFORE DELETE ON tool_call
WHEN NOT EXISTS (SELECT 1 FROM tool_call WHERE seq > OLD.seq) BEGIN
  UPDATE seq_floor SET seq = OLD.seq WHERE noun = 'tool_call' AND seq < OLD.seq;
END;

CREATE TRIGGER gate_call_leaves_its_seq BEFORE DELETE ON gate_call
WHEN NOT EXISTS (SELECT 1 FROM gate_call WHERE seq > OLD.seq) BEGIN
  UPDATE seq_floor SET seq = OLD.seq WHERE noun = 'gate_call' AND seq < OLD.seq;
END;

CREATE TRIGGER seq_floor_stays BEFORE DELETE ON seq_floor BEGIN
  SELECT RAISE(ABORT, 'seq_floor: kept: a number that was given is not given again');
END;

CREATE TRIGGER seq_floor_leaves_numbers BEFORE UPDATE OF seq ON seq_floor
WHEN NEW.seq > 4611686018427387904 BEGIN
  SELECT RAISE(ABORT, 'seq_floor: too high: no number would be left');
END;
