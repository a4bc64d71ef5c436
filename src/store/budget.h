/* budget: what agents may use until a person is asked, as it is configured. The rules keep it
 * (schema/rules/agent_usage.sql). */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>

/* Whether text is one, of tokens or of money: "2000000 tokens", "5.00 USD". */
bool budget_is_valid(const char *text);

#endif
