#include "mode.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "texts.h"

#include <string.h>

static void keep(cJSON **place, const cJSON *said)
{
	if (!said || cJSON_IsNull(said))
		return;
	cJSON_Delete(*place);
	*place = cJSON_Duplicate(said, true);
}

/* currentModeId of an update; the documents also show modeId. */
static void take_current(struct acp_modes *modes, const cJSON *said)
{
	const char *mode = json_text(said, "currentModeId");

	mode = mode ? mode : json_text(said, "modeId");
	if (!mode || !modes->modes)
		return;
	cJSON_DeleteItemFromObjectCaseSensitive(modes->modes, "currentModeId");
	(void)cJSON_AddStringToObject(modes->modes, "currentModeId", mode);
}

void acp_modes_take(struct acp_modes *modes, const cJSON *said)
{
	const cJSON *all = json_get(said, "modes");

	keep(&modes->options, json_get(said, "configOptions"));
	keep(&modes->modes, cJSON_IsObject(all) ? all : NULL);
	take_current(modes, said);
}

/* The option with this id, or else of this category. */
static const cJSON *option_of(const struct acp_modes *modes, const char *name)
{
	const cJSON *option;

	cJSON_ArrayForEach (option, modes->options)
		if (texts_same(json_text(option, "id"), name) ||
		    texts_same(json_text(option, "configId"), name))
			return option;
	cJSON_ArrayForEach (option, modes->options)
		if (texts_same(json_text(option, "category"), name))
			return option;
	return NULL;
}

static const char *id_of(const cJSON *option)
{
	const char *id = json_text(option, "id");

	return id ? id : json_text(option, "configId");
}

const char *acp_modes_current(const struct acp_modes *modes)
{
	const cJSON *option = option_of(modes, "mode");

	return option ? json_text(option, "currentValue")
	              : json_text(modes->modes, "currentModeId");
}

/* Whether a list, of modes or of an option's values (which may stand in groups), has this one. */
static bool offers(const cJSON *list, const char *value)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list)
		if (texts_same(json_text(item, "value"), value) ||
		    texts_same(json_text(item, "id"), value) ||
		    offers(json_get(item, "options"), value))
			return true;
	return false;
}

static bool is_refused(const cJSON *refused, const char *mode)
{
	const char *tail = strrchr(mode, '#'); /* the modes of Copilot are URLs */
	const cJSON *item;

	cJSON_ArrayForEach (item, refused)
		if (cJSON_IsString(item) && (texts_same(mode, item->valuestring) ||
		                             (tail && texts_same(tail + 1, item->valuestring))))
			return true;
	return false;
}

static int set_mode(const struct acp_modes *modes, const char *value, struct acp_mode_step *step,
                    struct err *e)
{
	if (texts_same(acp_modes_current(modes), value))
		return 0;
	if (!offers(json_get(modes->modes, "availableModes"), value))
		return err_set(e, ERR_INPUT, "it has no mode %s", value);
	*step = (struct acp_mode_step){ .value = value };
	return 1;
}

static int set_option(const struct acp_modes *modes, const cJSON *wanted,
                      struct acp_mode_step *step, struct err *e)
{
	const cJSON *option = option_of(modes, wanted->string);
	const cJSON *current = json_get(option, "currentValue");

	if (!option && strcmp(wanted->string, "mode") == 0 && cJSON_IsString(wanted))
		return set_mode(modes, wanted->valuestring, step, e);
	if (!option)
		return err_set(e, ERR_INPUT, "it has no option %s", wanted->string);
	if (cJSON_Compare(current, wanted, true))
		return 0;
	if (cJSON_IsString(wanted) && !offers(json_get(option, "options"), wanted->valuestring))
		return err_set(e, ERR_INPUT, "its option %s has no value %s", wanted->string,
		               wanted->valuestring);
	*step = (struct acp_mode_step){
		.option = id_of(option),
		.value = cJSON_IsString(wanted) ? wanted->valuestring
		         : cJSON_IsTrue(wanted) ? "true"
		                                : "false",
		.is_bool = cJSON_IsBool(wanted),
	};
	return 1;
}

/* The first value of a list that is not refused. */
static const char *first_allowed(const cJSON *list, const cJSON *refused)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, list) {
		const char *value = json_text(item, "value");

		value = value ? value : json_text(item, "id");
		if (value && !is_refused(refused, value))
			return value;
	}
	return NULL;
}

/* Out of a mode that is refused. */
static int leave(const struct acp_modes *modes, const cJSON *refused, struct acp_mode_step *step,
                 struct err *e)
{
	const cJSON *option = option_of(modes, "mode");
	const char *current = acp_modes_current(modes);

	if (!current || !is_refused(refused, current))
		return 0;
	*step = (struct acp_mode_step){
		.option = option ? id_of(option) : NULL,
		.value = first_allowed(option ? json_get(option, "options")
		                              : json_get(modes->modes, "availableModes"),
		                       refused),
	};
	return step->value ? 1
	                   : err_set(e, ERR_INPUT, "each of its modes is refused, %s too", current);
}

int acp_modes_next(const struct acp_modes *modes, const cJSON *asking, const cJSON *refused,
                   struct acp_mode_step *step, struct err *e)
{
	const cJSON *wanted;
	int got = 0;

	cJSON_ArrayForEach (wanted, asking) {
		got = set_option(modes, wanted, step, e);
		if (got)
			return got;
	}
	return leave(modes, refused, step, e);
}

const char *acp_mode_step_add(struct str *out, const struct acp_mode_step *step,
                              const char *session_id, int version)
{
	json_object(out);
	json_member(out, "sessionId", session_id);
	json_member(out, step->option ? "configId" : "modeId",
	            step->option ? step->option : step->value);
	if (step->option && (version == 2 || step->is_bool))
		json_member(out, "type", step->is_bool ? "boolean" : "id");
	if (step->option && step->is_bool)
		json_member_raw(out, "value", step->value);
	else if (step->option)
		json_member(out, "value", step->value);
	json_object_end(out);
	return step->option ? "session/set_config_option" : "session/set_mode";
}

void acp_modes_clear(struct acp_modes *modes)
{
	cJSON_Delete(modes->options);
	cJSON_Delete(modes->modes);
	*modes = (struct acp_modes){ 0 };
}
