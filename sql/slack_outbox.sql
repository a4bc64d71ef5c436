-- Every statement on what is said in Slack, in the order of an intent's life.

-- name: slack_outbox_delete_of
DELETE FROM slack_outbox WHERE seq IN (
  SELECT o.seq FROM slack_message AS m JOIN slack_outbox AS o ON o.message_seq = m.seq
   WHERE m.session_seq = :session
   UNION ALL
  SELECT o.seq FROM request AS r JOIN slack_message AS m ON m.request_seq = r.seq
    JOIN slack_outbox AS o ON o.message_seq = m.seq
   WHERE r.session_seq = :session LIMIT :limit);

-- name: slack_message_delete
-- Those of its questions too: an adopted one stands in the thread of another session.
DELETE FROM slack_message WHERE seq IN (
  SELECT seq FROM slack_message WHERE session_seq = :session
   UNION ALL
  SELECT m.seq FROM request AS r JOIN slack_message AS m ON m.request_seq = r.seq
   WHERE r.session_seq = :session LIMIT :limit);
