-- A text is what its hash says, for ever: what an operator saw is what is written.

CREATE TRIGGER content_is_born BEFORE INSERT ON content BEGIN
  SELECT RAISE(ABORT, 'content: exists: this seq is that of another text')
   WHERE EXISTS (SELECT 1 FROM content WHERE seq = NEW.seq AND hash <> NEW.hash);
END;

-- The same text again is the same row, also for INSERT OR REPLACE.
CREATE TRIGGER content_is_there BEFORE INSERT ON content
WHEN EXISTS (SELECT 1 FROM content WHERE hash = NEW.hash) BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER content_is_fixed BEFORE UPDATE ON content BEGIN
  SELECT RAISE(ABORT, 'content: fixed: a text does not change; insert another one');
END;
