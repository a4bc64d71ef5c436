-- Judges an envelope: the first with its keys, from an operator, and understood. Only an accepted
-- one may have effects.

CREATE TRIGGER slack_envelope_is_judged AFTER INSERT ON slack_envelope BEGIN
  UPDATE slack_envelope
     SET operator_id = (
           SELECT o.id FROM operator AS o
            WHERE o.kind = 'slack' AND o.active = 1 AND o.user_id = NEW.user_id
              AND (o.team_id = NEW.team_id OR o.team_id = '')
              AND NEW.team_id = coalesce((SELECT value FROM setting WHERE name = 'slack.team_id'),
                                         NEW.team_id)),
         first_seq = (SELECT min(f.seq) FROM (
             SELECT seq FROM slack_envelope
              WHERE is_first = 1 AND envelope_id IS NOT NULL AND envelope_id = NEW.envelope_id
             UNION ALL
             SELECT seq FROM slack_envelope
              WHERE is_first = 1 AND event_key IS NOT NULL AND event_key = NEW.event_key
             UNION ALL
             SELECT seq FROM slack_envelope
              WHERE is_first = 1 AND message_key IS NOT NULL AND message_key = NEW.message_key
             UNION ALL
             SELECT seq FROM slack_envelope
              WHERE is_first = 1 AND client_key IS NOT NULL AND client_key = NEW.client_key) AS f)
   WHERE seq = NEW.seq;
  UPDATE slack_envelope
     SET (outcome, why, is_first) = (
           SELECT o.outcome, o.why, o.outcome IN ('accepted', 'unauthorized', 'malformed') FROM (
             SELECT 1 AS rank, 'duplicate' AS outcome, 'it repeats envelope ' || first_seq AS why
              WHERE first_seq IS NOT NULL
             UNION ALL
             SELECT 2, 'ignored', 'nothing in it is for us' WHERE NEW.reading = 'ignored'
             UNION ALL
             SELECT 3, 'malformed', 'created_at must look like 2026-02-08T09:30:00.123Z'
              WHERE typeof(NEW.created_at) <> 'text'
                 OR NEW.created_at NOT GLOB '????-??-??T??:??:??.???Z'
             UNION ALL
             SELECT 4, 'malformed',
                    CASE WHEN typeof(NEW.problem) = 'text' THEN substr(NEW.problem, 1, 200)
                         ELSE 'it does not say who acted' END
              WHERE NEW.reading = 'malformed' AND typeof(NEW.user_id) <> 'text'
             UNION ALL
             SELECT 5, 'unauthorized', 'this person is no operator' WHERE operator_id IS NULL
             UNION ALL
             SELECT 6, 'accepted', NULL WHERE NEW.reading = 'understood'
             UNION ALL
             SELECT 7, 'malformed',
                    CASE WHEN typeof(NEW.problem) = 'text' THEN substr(NEW.problem, 1, 200)
                         ELSE 'it is not of a form that we know' END
           ) AS o ORDER BY o.rank LIMIT 1)
   WHERE seq = NEW.seq;
  INSERT INTO slack_stranger (envelope_seq) VALUES (NEW.seq);
END;

-- A stranger gets no reply; the attempt is recorded in the timeline, which outlives the envelope. (Why a
-- view: see decision_told.)
CREATE VIEW slack_stranger AS
SELECT seq AS envelope_seq FROM slack_envelope WHERE outcome = 'unauthorized';

CREATE TRIGGER slack_stranger_is_told INSTEAD OF INSERT ON slack_stranger
WHEN EXISTS (SELECT 1 FROM slack_stranger WHERE envelope_seq = NEW.envelope_seq) BEGIN
  INSERT INTO event (at, kind, detail)
  SELECT e.created_at, 'security.stranger',
         json_object('envelope', e.seq,
                     'team', CASE WHEN typeof(e.team_id) = 'text' THEN substr(e.team_id, 1, 40) END,
                     'user', CASE WHEN typeof(e.user_id) = 'text' THEN substr(e.user_id, 1, 40) END,
                     'channel', CASE WHEN typeof(e.channel_id) = 'text'
                                     THEN substr(e.channel_id, 1, 40) END,
                     'action', CASE WHEN typeof(e.action) = 'text' THEN substr(e.action, 1, 80) END)
    FROM slack_envelope AS e WHERE e.seq = NEW.envelope_seq;
END;
