#include "message.h"

#include "json.h"
#include "json_writer.h"

#include <math.h>
#include <string.h>

static bool is_id(const cJSON *id)
{
	double number;

	return cJSON_IsString(id) || (json_number(id, &number) && floor(number) == number);
}

static void read_error(struct acp_message *m, const cJSON *error)
{
	const cJSON *code = cJSON_GetObjectItemCaseSensitive(error, "code");
	const char *text = json_text(error, "message");

	m->kind = ACP_MESSAGE_ERROR;
	m->code = cJSON_IsNumber(code) ? code->valueint : ACP_INTERNAL_ERROR;
	m->text = text ? text : "";
}

static int classify(struct acp_message *m, struct err *e)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(m->root, "id");
	const cJSON *method = cJSON_GetObjectItemCaseSensitive(m->root, "method");
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(m->root, "error");

	m->result = cJSON_GetObjectItemCaseSensitive(m->root, "result");
	if (!is_id(id))
		m->id = NULL; /* null: they could not read which of ours they answer */
	if (id && !cJSON_IsNull(id) && !m->id)
		return err_set(e, ERR_INPUT, "id is no short string and no integer");
	if (method && !m->method)
		return err_set(e, ERR_INPUT, "method is no short string");
	if (method) {
		m->kind = m->id ? ACP_MESSAGE_REQUEST : ACP_MESSAGE_NOTIFICATION;
		m->params = cJSON_GetObjectItemCaseSensitive(m->root, "params");
		return m->params && !cJSON_IsObject(m->params)
		           ? err_set(e, ERR_INPUT, "params is no object")
		           : 0;
	}
	if (error) {
		m->result = NULL;
		read_error(m, error);
		return 0;
	}
	m->kind = ACP_MESSAGE_RESULT;
	return m->result && m->id ? 0 : err_set(e, ERR_INPUT, "neither method nor result");
}

int acp_message_read(const char *bytes, size_t length, struct acp_message *m, struct err *e)
{
	json_peek_feed(&m->peek, bytes, length);
	m->id = m->peek.id[0] ? m->peek.id : NULL;
	m->method = m->peek.method[0] ? m->peek.method : NULL;
	if (!utf8_valid(bytes, length) || memchr(bytes, '\0', length))
		return err_set(e, ERR_INPUT, "not valid UTF-8");
	m->root = json_read(bytes, length, NULL);
	if (!m->root)
		return err_set(e, ERR_INPUT, "not valid JSON");
	if (cJSON_IsArray(m->root)) {
		m->kind = ACP_MESSAGE_BATCH;
		return 0;
	}
	if (!cJSON_IsObject(m->root))
		return err_set(e, ERR_INPUT, "not a JSON object");
	if (m->peek.unclear) {
		m->id = NULL; /* whoever sent it may have meant the other one */
		return err_set(e, ERR_INPUT, "readers may understand it differently: %s",
		               m->peek.unclear);
	}
	return classify(m, e);
}

void acp_message_clear(struct acp_message *m)
{
	cJSON_Delete(m->root);
	*m = (struct acp_message){ 0 };
}

static void begin(struct str *out)
{
	str_add(out, "{\"jsonrpc\":\"2.0\"");
}

void acp_message_add_request(struct str *out, const char *id, const char *method,
                             const char *params)
{
	begin(out);
	json_member_raw(out, "id", id);
	json_member(out, "method", method);
	json_member_raw(out, "params", params);
	json_object_end(out);
}

void acp_message_add_notification(struct str *out, const char *method, const char *params)
{
	begin(out);
	json_member(out, "method", method);
	json_member_raw(out, "params", params);
	json_object_end(out);
}

void acp_message_add_result(struct str *out, const char *id, const char *result)
{
	begin(out);
	json_member_raw(out, "id", id);
	json_member_raw(out, "result", result);
	json_object_end(out);
}

void acp_message_add_error(struct str *out, const char *id, int code, const char *text)
{
	begin(out);
	json_member_raw(out, "id", id);
	json_member_object(out, "error");
	json_member_int(out, "code", code);
	json_member(out, "message", text);
	json_object_end(out);
	json_object_end(out);
}
