-- The numbers of tables that count without AUTOINCREMENT, which writes a page of its own for each row: SQLite
-- gives a new row the number after the highest, so when the highest goes, it is noted here, and later rows
-- come after it.
-- small
-- fixed: a number that was given is not given again
CREATE TABLE seq_floor (
  noun TEXT NOT NULL PRIMARY KEY, -- fixed: the table
  seq  INTEGER NOT NULL DEFAULT 0 -- grows: its highest number among rows that were deleted as the highest
) STRICT, WITHOUT ROWID;
INSERT INTO seq_floor (noun) VALUES ('gate_call'), ('tool_call');
