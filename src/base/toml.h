/* toml: reads a TOML file into cJSON, with the line of every value. config interprets the values.
 *
 * Each value is a node {"line": 12, "type": "integer", "value": ...}. The value of a table is an
 * object of nodes, in the order of the file; that of an array is an array of nodes. An integer is
 * kept as its decimal digits (cJSON_Raw), because a double is exact only up to 2^53. */
#ifndef TOML_H
#define TOML_H

#include "err.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

enum { TOML_FILE_BYTES_MAX = 1024 * 1024, TOML_DEPTH_MAX = 32 };

/* The values of "type"; dates and times are kept as text. */
#define TOML_TEXT "text"
#define TOML_INTEGER "integer"
#define TOML_FLOAT "float"
#define TOML_BOOLEAN "boolean"
#define TOML_DATE "date or time"
#define TOML_ARRAY "array"
#define TOML_TABLE "table"

/* The file's top-level table as a node (the caller frees it with cJSON_Delete); NULL, and e is
 * "FILE:LINE: reason" or "FILE: reason", if the file cannot be read or is not TOML. */
cJSON *toml_read(const char *path, struct err *e);

int toml_line(const cJSON *node);
const char *toml_type(const cJSON *node);
bool toml_is(const cJSON *node, const char *type);
/* The object, array or scalar itself. */
const cJSON *toml_value(const cJSON *node);
/* Whether the node is an integer; if so, *out is its exact value. */
bool toml_int(const cJSON *node, int64_t *out);

#endif
