/* variables: lists of environment variables ("NAME=value") that end with NULL, as execve takes
 * them. A name that ends in '*' stands for all that begin so. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

bool variable_is(const char *variable, const char *name);
bool variable_is_one_of(const char *variable, const char *const *names, size_t count);
/* How many there are before the NULL. */
size_t variables_count(char *const *list);
/* Those of `from` that have one of the names (count of them; 0: all), with room for so many more.
 * The caller frees the array; its texts are those of `from`. */
char **variables_pick(char *const *from, const char *const *names, size_t count, size_t room);

#endif
