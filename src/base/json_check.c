#include "json_check.h"

#include <ctype.h>
#include <string.h>

enum state {
	AT_START, /* nothing yet */
	AT_VALUE,
	AT_FIRST_ITEM, /* a value, or the end of the array */
	AT_FIRST_NAME, /* a name, or the end of the object */
	AT_NAME,
	AT_COLON,
	AFTER_VALUE, /* a comma, or the end of what it is in; of the outermost: blanks */
	IN_STRING,
	IN_ESCAPE,
	IN_HEX,
	IN_WORD,
	AFTER_MINUS,
	AFTER_ZERO,
	IN_WHOLE,
	AFTER_POINT,
	IN_FRACTION,
	AFTER_E,
	AFTER_SIGN,
	IN_EXPONENT,
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_in_object(const struct json_check *c)
{
	int level = c->depth - 1;

	return c->depth > 0 && (c->in_object[level / 64] >> (level % 64) & 1);
}

static void turn(struct json_check *c, bool is_right, enum state next)
{
	c->is_broken = c->is_broken || !is_right;
	c->state = (int)next;
}

static void open_level(struct json_check *c, bool is_object)
{
	uint64_t bit;

	if (c->depth == JSON_CHECK_DEPTH) {
		c->is_broken = true;
		return;
	}
	bit = UINT64_C(1) << (c->depth % 64);
	if (is_object)
		c->in_object[c->depth / 64] |= bit;
	else
		c->in_object[c->depth / 64] &= ~bit;
	c->depth++;
	c->state = is_object ? AT_FIRST_NAME : AT_FIRST_ITEM;
}

static void close_level(struct json_check *c, char end)
{
	turn(c, c->depth > 0 && is_in_object(c) == (end == '}'), AFTER_VALUE);
	c->depth -= c->depth > 0;
}

static void begin_string(struct json_check *c, bool is_name)
{
	c->is_name = is_name;
	c->state = IN_STRING;
}

static void begin_word(struct json_check *c, char first)
{
	static const char *const WORDS[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (WORDS[i][0] == first) {
			c->word = WORDS[i] + 1;
			c->state = IN_WORD;
			return;
		}
	c->is_broken = true;
}

static void begin_value(struct json_check *c, char first)
{
	if (first == '{' || first == '[')
		open_level(c, first == '{');
	else if (first == '"')
		begin_string(c, false);
	else if (first == '-')
		c->state = AFTER_MINUS;
	else if (is_digit(first))
		c->state = first == '0' ? AFTER_ZERO : IN_WHOLE;
	else
		begin_word(c, first);
}

static void after_value(struct json_check *c, char next)
{
	if (next == ',')
		turn(c, c->depth > 0, is_in_object(c) ? AT_NAME : AT_VALUE);
	else if (next == '}' || next == ']')
		close_level(c, next);
	else
		c->is_broken = true;
}

/* Between the values. */
static void outside(struct json_check *c, char next)
{
	if (is_blank(next))
		return;
	switch (c->state) {
	case AT_FIRST_ITEM:
		if (next == ']')
			close_level(c, next);
		else
			begin_value(c, next);
		break;
	case AT_FIRST_NAME:
	case AT_NAME:
		if (next == '"')
			begin_string(c, true);
		else if (next == '}' && c->state == AT_FIRST_NAME)
			close_level(c, next);
		else
			c->is_broken = true;
		break;
	case AT_COLON:
		turn(c, next == ':', AT_VALUE);
		break;
	case AFTER_VALUE:
		after_value(c, next);
		break;
	default:
		begin_value(c, next);
	}
}

static void in_string(struct json_check *c, char next)
{
	if (next == '"')
		c->state = c->is_name ? AT_COLON : AFTER_VALUE;
	else if (next == '\\')
		c->state = IN_ESCAPE;
	else
		c->is_broken = (unsigned char)next < 0x20;
}

static void in_escape(struct json_check *c, char next)
{
	if (c->state == IN_ESCAPE) {
		c->digits = 4;
		turn(c, next && strchr("\"\\/bfnrtu", next), next == 'u' ? IN_HEX : IN_STRING);
	} else if (!isxdigit((unsigned char)next)) {
		c->is_broken = true;
	} else if (--c->digits == 0) {
		c->state = IN_STRING;
	}
}

static void in_word(struct json_check *c, char next)
{
	c->is_broken = *c->word++ != next;
	if (!*c->word || c->is_broken)
		c->state = AFTER_VALUE;
}

/* A number may end here. */
static void end_number(struct json_check *c, char next)
{
	c->state = AFTER_VALUE;
	outside(c, next);
}

static void in_number(struct json_check *c, char next)
{
	switch (c->state) {
	case AFTER_MINUS:
		turn(c, is_digit(next), next == '0' ? AFTER_ZERO : IN_WHOLE);
		return;
	case AFTER_POINT:
		turn(c, is_digit(next), IN_FRACTION);
		return;
	case AFTER_E:
		turn(c, is_digit(next) || next == '+' || next == '-',
		     is_digit(next) ? IN_EXPONENT : AFTER_SIGN);
		return;
	case AFTER_SIGN:
		turn(c, is_digit(next), IN_EXPONENT);
		return;
	default:
		break;
	}
	if (is_digit(next) && c->state != AFTER_ZERO)
		return;
	if (next == '.' && (c->state == AFTER_ZERO || c->state == IN_WHOLE))
		c->state = AFTER_POINT;
	else if ((next == 'e' || next == 'E') && c->state != IN_EXPONENT)
		c->state = AFTER_E;
	else
		end_number(c, next);
}

void json_check_feed(struct json_check *c, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length && !c->is_broken; i++) {
		if (c->state == IN_STRING)
			in_string(c, bytes[i]);
		else if (c->state == IN_ESCAPE || c->state == IN_HEX)
			in_escape(c, bytes[i]);
		else if (c->state == IN_WORD)
			in_word(c, bytes[i]);
		else if (c->state >= AFTER_MINUS)
			in_number(c, bytes[i]);
		else
			outside(c, bytes[i]);
	}
}

bool json_check_is_whole(const struct json_check *c)
{
	bool ends = c->state == AFTER_VALUE || c->state == AFTER_ZERO || c->state == IN_WHOLE ||
	            c->state == IN_FRACTION || c->state == IN_EXPONENT;

	return !c->is_broken && c->depth == 0 && ends;
}

bool json_check_is_blank(const struct json_check *c)
{
	return !c->is_broken && c->state == AT_START;
}
