/* toml: toml11 (3 or 4) behind a C interface. No exception leaves this file. */
extern "C" {
#include "toml.h"

#include "str.h"
}

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <toml.hpp>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

enum { REASON_BYTES_MAX = 300 };

struct deleter {
	void operator()(cJSON *json) const
	{
		cJSON_Delete(json);
	}
};
using json_ptr = std::unique_ptr<cJSON, deleter>;

/* What is wrong with the file, found by us and not by toml11. Line 0: the file as a whole. */
struct refusal : std::runtime_error {
	refusal(size_t at, const std::string &reason) : std::runtime_error(reason), line(at)
	{
	}
	size_t line;
};

/* The system refuses the file, or the disk fails. */
struct failure : std::runtime_error {
	explicit failure(const std::string &what) : std::runtime_error(what), error(errno)
	{
	}
	int error;
};

json_ptr made(cJSON *json)
{
	if (!json)
		throw std::bad_alloc();
	return json_ptr(json);
}

void add(cJSON *object, const char *name, json_ptr item)
{
	if (!cJSON_AddItemToObject(object, name, item.get()))
		throw std::bad_alloc();
	(void)item.release();
}

/* ---- what toml11 3 and 4 name differently ---- */

struct place {
	size_t line, column;
};

/* Why the parser stopped. */
struct complaint {
	size_t line;
	std::string title, hint; /* hint: what it says of the place */
};

#if TOML11_VERSION_MAJOR >= 4

place place_of(const toml::value &value)
{
	const auto where = value.location();

	return { where.first_line_number(), where.first_column_number() };
}

const std::string &string_of(const toml::value &value)
{
	return value.as_string();
}

/* An integer that does not fit is a syntax error. */
void check_fits(const toml::value &)
{
}

using parse_error = toml::syntax_error;

complaint complaint_of(const parse_error &no)
{
	complaint c = { 0, "", "" };

	if (no.errors().empty())
		return c;
	c.title = no.errors().front().title();
	if (!no.errors().front().locations().empty()) {
		const auto &where = no.errors().front().locations().front();

		c.line = where.first.first_line_number();
		c.hint = where.second;
	}
	return c;
}

#else

place place_of(const toml::value &value)
{
	const auto where = value.location();

	return { where.line(), where.column() };
}

const std::string &string_of(const toml::value &value)
{
	return value.as_string().str;
}

/* toml11 3 clamps or wraps an integer that does not fit, so its digits are read again. */
void check_fits(const toml::value &value)
{
	const auto where = value.location();
	std::string digits = where.line_str().substr(where.column() - 1, where.region());
	int base = 10;

	digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
	if (digits.size() > 2 && digits[0] == '0') {
		base = digits[1] == 'x' ? 16 : digits[1] == 'o' ? 8 : 2;
		digits.erase(0, 2);
	}
	errno = 0;
	(void)std::strtoll(digits.c_str(), nullptr, base);
	if (errno == ERANGE)
		throw refusal(where.line(), "the integer does not fit into 64 bits");
}

using parse_error = toml::exception;

/* what() is "[error] TITLE\n --> FILE\n ... ^--- HINT\n". */
complaint complaint_of(const parse_error &no)
{
	const std::string what = no.what();
	const size_t mark = what.find("--- ");
	complaint c = { no.location().line(), what.substr(0, what.find('\n')), "" };

	if (c.title.rfind("[error] ", 0) == 0)
		c.title.erase(0, std::strlen("[error] "));
	if (mark != std::string::npos)
		c.hint = what.substr(mark + 4, what.find('\n', mark) - mark - 4);
	return c;
}

#endif

/* ---- values ---- */

json_ptr node_of(const toml::value &value);

json_ptr integer_of(const toml::value &value)
{
	check_fits(value);
	return made(cJSON_CreateRaw(std::to_string(value.as_integer()).c_str()));
}

json_ptr text_of(const toml::value &value)
{
	const std::string &text = string_of(value);

	if (text.find('\0') != std::string::npos)
		throw refusal(place_of(value).line, "a text must not hold a NUL character");
	return made(cJSON_CreateString(text.c_str()));
}

json_ptr array_of(const toml::value &value)
{
	json_ptr array = made(cJSON_CreateArray());

	for (const auto &item : value.as_array()) {
		json_ptr node = node_of(item);

		if (!cJSON_AddItemToArray(array.get(), node.get()))
			throw std::bad_alloc();
		(void)node.release();
	}
	return array;
}

/* toml11 keeps tables unordered; messages about a file should come in its order. */
bool stands_before(const std::pair<const std::string, toml::value> *a,
                   const std::pair<const std::string, toml::value> *b)
{
	const place left = place_of(a->second);
	const place right = place_of(b->second);

	if (left.line != right.line)
		return left.line < right.line;
	if (left.column != right.column)
		return left.column < right.column;
	return a->first < b->first;
}

json_ptr table_of(const toml::value &value)
{
	std::vector<const std::pair<const std::string, toml::value> *> members;
	json_ptr table = made(cJSON_CreateObject());

	for (const auto &member : value.as_table())
		members.push_back(&member);
	std::sort(members.begin(), members.end(), stands_before);
	for (const auto *member : members) {
		if (member->first.find('\0') != std::string::npos)
			throw refusal(place_of(member->second).line,
			              "a key must not hold a NUL character");
		add(table.get(), member->first.c_str(), node_of(member->second));
	}
	return table;
}

std::string date_of(const toml::value &value)
{
	std::ostringstream text;

	text << value;
	return text.str();
}

std::pair<const char *, json_ptr> typed(const toml::value &value)
{
	switch (value.type()) {
	case toml::value_t::boolean:
		return { TOML_BOOLEAN, made(cJSON_CreateBool(value.as_boolean())) };
	case toml::value_t::integer:
		return { TOML_INTEGER, integer_of(value) };
	case toml::value_t::floating:
		return { TOML_FLOAT, made(cJSON_CreateNumber(value.as_floating())) };
	case toml::value_t::string:
		return { TOML_TEXT, text_of(value) };
	case toml::value_t::array:
		return { TOML_ARRAY, array_of(value) };
	case toml::value_t::table:
		return { TOML_TABLE, table_of(value) };
	case toml::value_t::offset_datetime:
	case toml::value_t::local_datetime:
	case toml::value_t::local_date:
	case toml::value_t::local_time:
	case toml::value_t::empty:
		break;
	}
	return { TOML_DATE, made(cJSON_CreateString(date_of(value).c_str())) };
}

json_ptr node_of(const toml::value &value)
{
	json_ptr node = made(cJSON_CreateObject());
	auto content = typed(value);

	add(node.get(), "line",
	    made(cJSON_CreateNumber(static_cast<double>(place_of(value).line))));
	add(node.get(), "type", made(cJSON_CreateString(content.first)));
	add(node.get(), "value", std::move(content.second));
	return node;
}

/* ---- the file ---- */

struct descriptor {
	int fd;
	~descriptor()
	{
		if (fd >= 0)
			(void)close(fd);
	}
};

std::string content_of(const char *path)
{
	const descriptor file = { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) };
	struct stat about;
	std::string content;
	char piece[4096];

	if (file.fd < 0 || fstat(file.fd, &about) != 0)
		throw failure("cannot be opened");
	if (!S_ISREG(about.st_mode))
		throw refusal(0, "is not a regular file");
	while (content.size() <= TOML_FILE_BYTES_MAX) {
		const ssize_t n = read(file.fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			throw failure("cannot be read");
		if (n == 0)
			break;
		content.append(piece, static_cast<size_t>(n));
	}
	if (content.size() > TOML_FILE_BYTES_MAX)
		throw refusal(0, "is larger than " + std::to_string(TOML_FILE_BYTES_MAX) +
		                     " bytes, the most that is read");
	return content;
}

/* Steps over the text, comment or character at i; the place behind it. */
size_t skip_token(const std::string &content, size_t i)
{
	const char c = content[i];

	if (c == '#')
		return std::min(content.find('\n', i), content.size());
	if (c != '"' && c != '\'')
		return i + 1;
	const std::string three(3, c);
	const bool multi = content.compare(i, 3, three) == 0;
	const std::string end = multi ? three : std::string(1, c);

	for (i += end.size(); i < content.size(); i++) {
		if (content[i] == '\\' && c == '"')
			i++;
		else if (content.compare(i, end.size(), end) == 0)
			return i + end.size();
		else if (content[i] == '\n' && !multi)
			return i;
	}
	return content.size();
}

/* toml11 recurses without a bound and takes hours over a key with very many dots. */
void check_depth(const std::string &content)
{
	size_t line = 1, brackets = 0, dots = 0, next;

	for (size_t i = 0; i < content.size(); i = next) {
		next = skip_token(content, i);
		if (next == i + 1) {
			const char c = content[i];

			if (c == '[' || c == '{')
				brackets++;
			else if ((c == ']' || c == '}') && brackets > 0)
				brackets--;
			dots = c == '.' ? dots + 1 : std::strchr(",=[{\n", c) ? 0 : dots;
		}
		if (brackets > TOML_DEPTH_MAX || dots > TOML_DEPTH_MAX)
			throw refusal(line, "is nested deeper than " +
			                        std::to_string(static_cast<int>(TOML_DEPTH_MAX)) +
			                        " levels");
		line += static_cast<size_t>(std::count(
		    content.begin() + static_cast<long>(i),
		    content.begin() + static_cast<long>(std::min(next, content.size())), '\n'));
	}
}

void check_characters(const std::string &content)
{
	if (content.find('\0') != std::string::npos)
		throw refusal(0, "holds a NUL byte");
	if (!utf8_valid(content.data(), content.size()))
		throw refusal(0, "is not UTF-8");
}

/* ---- reasons ---- */

/* The two versions of toml11 word the commonest mistakes differently. */
const struct {
	const char *theirs; /* a part of it */
	const char *ours;
} WORDS[] = {
	{ "missing key-value separator", "expected '=' after the key" },
	{ "invalid key value separator", "expected '=' after the key" },
	{ "an invalid key appeared", "invalid key or table; write [table] or key = value" },
	{ "empty key is not allowed", "a key is missing before '='" },
	{ "missing value after", "expected a value" },
	{ "unknown value appeared", "expected a value" },
	{ "already exists", "this key or table is already defined" },
	{ "already defined", "this key or table is already defined" },
	{ "is neither table nor", "this key or table is already defined" },
	{ "not a valid string", "invalid string; check its quotes and escapes" },
	{ "not a valid literal string", "invalid string; check its quotes and escapes" },
	{ "invalid string format", "invalid string; check its quotes and escapes" },
	{ "too large integer", "the integer does not fit into 64 bits" },
	{ "bad integer", "invalid integer; write it like 42, -7, 1_000 or 0xFF" },
	{ "not an integer", "invalid integer; write it like 42, -7, 1_000 or 0xFF" },
	{ "invalid integer", "invalid integer; write it like 42, -7, 1_000 or 0xFF" },
	{ "not a boolean", "expected true or false; a text needs quotes" },
	{ "invalid boolean", "expected true or false; a text needs quotes" },
};

/* Takes the parser's function off the front: "toml::parse_x: Why." */
void strip_function(std::string &title)
{
	const size_t colon = title.find(':', title.rfind("toml::", 0) == 0 ? 6 : 0);

	if (colon == std::string::npos || (title.rfind("toml::", 0) && title.rfind("parse_", 0)))
		return;
	title.erase(0, std::min(title.find_first_not_of(' ', colon + 1), title.size()));
}

/* One line in our style. */
std::string reason_of(const complaint &c)
{
	std::string reason = c.title;

	strip_function(reason);
	if (!c.hint.empty() && c.hint != "here")
		reason += (reason.empty() ? "" : ", ") + c.hint;
	for (const auto &word : WORDS)
		if (reason.find(word.theirs) != std::string::npos)
			return word.ours;
	for (char &ch : reason)
		if (static_cast<unsigned char>(ch) < ' ')
			ch = ' ';
	while (!reason.empty() && std::strchr(". ", reason.back()))
		reason.pop_back();
	if (reason.size() > REASON_BYTES_MAX)
		reason.resize(REASON_BYTES_MAX);
	while (!reason.empty() && !utf8_valid(reason.data(), reason.size()))
		reason.pop_back();
	if (reason.empty())
		return "is not TOML";
	reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
	return reason;
}

json_ptr read_file(const char *path)
{
	const std::string content = content_of(path);

	check_characters(content);
	check_depth(content);
	std::istringstream stream(content);
	return node_of(toml::parse(stream, path));
}

const cJSON *member(const cJSON *node, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(node, name);
}

} // namespace

extern "C" {

cJSON *toml_read(const char *path, struct err *e)
{
	try {
		return read_file(path).release();
	} catch (const refusal &no) {
		if (no.line)
			(void)err_set(e, ERR_INPUT, "%s:%zu: %s", path, no.line, no.what());
		else
			(void)err_set(e, ERR_INPUT, "%s: %s", path, no.what());
	} catch (const failure &no) {
		errno = no.error;
		(void)err_errno(e, ERR_INPUT, "%s: %s", path, no.what());
	} catch (const parse_error &no) {
		const complaint c = complaint_of(no);

		(void)err_set(e, ERR_INPUT, "%s:%zu: %s", path, c.line, reason_of(c).c_str());
	} catch (const std::bad_alloc &) {
		(void)err_set(e, ERR_AGAIN, "%s: out of memory", path);
	} catch (const std::exception &no) {
		(void)err_set(e, ERR_INPUT, "%s: %s", path,
		              reason_of({ 0, no.what(), "" }).c_str());
	} catch (...) {
		(void)err_set(e, ERR_BUG, "%s: unknown exception while reading", path);
	}
	return nullptr;
}

int toml_line(const cJSON *node)
{
	const cJSON *line = member(node, "line");

	return line ? line->valueint : 0;
}

const char *toml_type(const cJSON *node)
{
	const char *type = cJSON_GetStringValue(member(node, "type"));

	return type ? type : "";
}

bool toml_is(const cJSON *node, const char *type)
{
	return std::strcmp(toml_type(node), type) == 0;
}

const cJSON *toml_value(const cJSON *node)
{
	return member(node, "value");
}

bool toml_int(const cJSON *node, int64_t *out)
{
	if (!toml_is(node, TOML_INTEGER))
		return false;
	*out = std::strtoll(toml_value(node)->valuestring, nullptr, 10);
	return true;
}
}
