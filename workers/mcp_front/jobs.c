/* What a job of each kind does. */
#include "job.h"

#include "broadcasts.h"
#include "calls.h"
#include "connections.h"
#include "editor.h"
#include "elicitation.h"
#include "hooks.h"
#include "resources.h"
#include "tasks.h"

const struct job_row JOBS[] = {
	[JOB_CALL] = { .look = calls_look,
	               .prepare = calls_prepare,
	               .run = calls_run,
	               .reply = calls_reply,
	               .has_reply = true },
	[JOB_INITIALIZE] = { .prepare = connections_prepare_initialize,
	                     .run = connections_run_initialize,
	                     .reply = connections_reply_initialize,
	                     .has_reply = true },
	[JOB_CANCEL] = { .run = calls_run_cancel, .reply = calls_reply_cancel },
	[JOB_READ] = { .run = resources_run, .reply = resources_reply, .has_reply = true },
	[JOB_SAID] = { .run = broadcasts_run_said },
	[JOB_TASK] = { .run = tasks_run, .reply = tasks_reply, .has_reply = true },
	[JOB_ELICITED] = { .run = elicitation_run, .reply = elicitation_reply },
	[JOB_RESUME] = { .run = calls_run_resume, .reply = calls_reply_resumed, .has_reply = true },
	[JOB_REOPEN] = { .run = connections_run_reopen },
	[JOB_END] = { .run = connections_run_end, .reply = connections_reply_end },
	[JOB_EDITOR] = { .run = editor_run, .reply = editor_reply, .has_reply = true },
	[JOB_HOOK] = { .look = hooks_look, .run = hooks_run, .reply = hooks_reply },
	[JOB_UNTOLD] = { .run = calls_run_untold },
	[JOB_HANG_UP] = { .run = calls_run_hang_up },
	[JOB_DROP] = { .run = calls_run_hang_up },
};
