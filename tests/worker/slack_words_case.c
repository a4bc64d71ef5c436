#include "slack_words_case.h"

#include "agent.h"
#include "slack_peer.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- given ---- */

void a_session(int seq, const char *id, const char *root)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(
	    &sql,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " client_name, channel_id, connectivity_status, created_at, updated_at,"
	    " last_activity_at)"
	    " VALUES (%d, '%s', 'h', 'local:tester', '%s', 'active', 'hybrid', 'claude',"
	    " 'C01AGENTS', 'online', '" T "', '" T "', '2026-01-01T09:00:0%d.000Z');"
	    "UPDATE session SET thread_ts = '1700000000.000%d00' WHERE seq = %d",
	    seq, id, root, seq, seq, seq);
	given(sql.bytes);
}

/* A question of session 1 that waits, with the columns of its kind, and their values. */
void an_unsent_question(const char *id, const char *kind, const char *title, const char *columns,
                        const char *values)
{
	static int digest;
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	         " created_at, updated_at%s)"
	         " VALUES ('%s', 1, '%s', 'pending', printf('%%064d', %d), '%s', '%s', '" T "', '" T
	         "'%s)",
	         columns, id, kind, ++digest, title, title, values);
	given(sql.bytes);
}

void a_question(const char *id, const char *kind, const char *title, const char *columns,
                const char *values)
{
	an_unsent_question(id, kind, title, columns, values);
	slack_shows_questions();
}

void a_change(const char *id)
{
	a_question(id, "clearance", "Change a.c", ", file_path, risk_level, original_hash",
	           ", 'a.c', 'low', 'new_file'");
}

void a_prompt(void)
{
	a_question(PROMPT, "prompt", "Go on?", ", prompt_type", ", 'continuation'");
}

void a_standby(void)
{
	a_question(STANDBY, "standby", "Ready", "", "");
}

/* A listener that is connected, and one session in its thread. */
void slack(void)
{
	fresh_store();
	given("INSERT INTO operator (id, kind, team_id, user_id, created_at) VALUES"
	      " ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP', '" T "'),"
	      " ('slack:T01TEAM:U02OP', 'slack', 'T01TEAM', 'U02OP', '" T "');"
	      "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	      "INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('slack.channel_id', 'C01AGENTS', 'file', '" T "')");
	a_session(1, SESSION, "/ws/web");
	slack_start();
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	(void)start_worker("slack-listener");
	(void)slack_wait_for("hello");
	slack_mark();
}

/* ---- when ---- */

void in_thread(const char *text)
{
	(void)slack_acked("{'message':{'text':'%s','thread_ts':'" THREAD "'}}", text);
}

void in_mention(const char *text)
{
	(void)slack_acked("{'mention':{'text':'%s','only':'app_mention'}}", text);
}

/* What a command is answered. */
const char *command(const char *text)
{
	return member(slack_acked("{'slash':{'text':'%s'}}", text), "payload.text");
}

void click(const char *user, const char *action, const char *value)
{
	static int count;

	(void)slack_acked(
	    "{'envelope':{'type':'interactive','accepts_response_payload':true,'payload':{"
	    "'type':'block_actions','user':{'id':'%s','team_id':'T01TEAM'},'team':{'id':'T01TEAM'},"
	    "'container':{'type':'message','message_ts':'1700000000.000900','channel_id':'"
	    "C01AGENTS','thread_ts':'" THREAD "'},'channel':{'id':'C01AGENTS'},"
	    "'trigger_id':'1.2.3','actions':[{'type':'button','action_id':'%s','value':'%s',"
	    "'action_ts':'1.%d'}]}}}",
	    user, action, value, ++count);
}

const char *submit(const char *callback, const char *id, const char *text)
{
	static int count;

	return slack_acked(
	    "{'envelope':{'type':'interactive','accepts_response_payload':true,'payload':{"
	    "'type':'view_submission','user':{'id':'U01OP','team_id':'T01TEAM'},'trigger_id':'7.%d'"
	    ","
	    "'view':{'id':'V01','callback_id':'%s','private_metadata':'%s','state':{'values':{"
	    "'instruction_block':{'instruction_text':{'value':%s}}}}}}}}",
	    ++count, callback, id, text);
}

/* ---- then ---- */

void replies(const char *part)
{
	OWNED(char_ptr) char *text = rows(LAST_REPLY);

	says(text, part);
}
