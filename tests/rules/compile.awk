# Turns the cases of one file into a script for the sqlite3 shell (standard output) and what is
# expected of it (the file `expected`). The script's output is, for each case,
#   @given (errors)
# and then, for each statement under `each:` and each of its forms, a block:
#   @case NUMBER / (errors) / @after (hash) / @then / (rows) / @undone (hash) / @end
# A case begins with the database as it was made, each block with what was given; both are rolled
# back. What is hashed is all that the tables hold, and only if SQLite counted a change: else half of
# the time would go there.

function form_of(line, form) {
	if (form != "" && line ~ /^INSERT INTO /)
		sub(/^INSERT /, "INSERT OR " form " ", line)
	else if (form != "" && line ~ /^UPDATE /)
		sub(/^UPDATE /, "UPDATE OR " form " ", line)
	return line
}

# Prints what the tables hold, if rows changed since the block began. (Setting the mark is a change.)
function hash() {
	if (refused != "")
		print "SELECT iif(total_changes() = changes + 1, 'as it was', hex(sha3_query(tables))) FROM temp.mark;"
}

function block(form,    i, n, lines) {
	number++
	print "@case " number "\t" FNR_of_title "\t" title (form == "" ? "" : " (OR " form ")") >expected
	print "@refused " (form != "" && refused != "" ? "*" : refused) >expected
	print rows >expected
	print "@end" >expected

	if (refused != "")
		print "UPDATE temp.mark SET changes = total_changes();"
	print "SAVEPOINT block;"
	print ".print @case " number
	n = split(wanted, lines, "\n")
	for (i = 1; i < n; i++)
		print form_of(lines[i], form)
	print ";"
	print ".print @after"
	hash()
	print ".print @then"
	printf "%s", queries
	print "ROLLBACK TO block;"
	print ".print @undone"
	hash()
	print ".print @end"
	print "RELEASE block;"
}

# Whether triggers recur matters where rows are replaced, since no chain of triggers leads back to its
# table (sqlgen refuses one). So each form runs with both settings of each pragma, but not with all four
# pairs: as it is written and REPLACE with both on and both off, IGNORE and FAIL with one on and the other
# off.
function has_forms(statements) {
	return !plain && statements ~ /(^|\n)(INSERT INTO|UPDATE) /
}

function forms() {
	if (keys == recursive)
		block("")
	if (has_forms(wanted) && keys == recursive)
		block("REPLACE")
	if (has_forms(wanted) && keys != recursive) {
		block("IGNORE")
		block("FAIL")
	}
}

function finish(    i, n, lines, sentence) {
	if (title != "" && index(title, text) && (keys == recursive || has_forms(wanted each))) {
		print "BEGIN;"
		print ".print @given"
		printf "%s", given
		print ";"
		if (each == "")
			forms()
		sentence = title
		n = split(each, lines, "\n")
		for (i = 1; i < n; i++) {
			wanted = lines[i] "\n"
			title = sentence ": " lines[i]
			forms()
		}
		print "ROLLBACK;"
	}
	given = wanted = each = refused = rows = queries = section = ""
	plain = 0
}

BEGIN {
	print ".open --deserialize " database
	print "PRAGMA foreign_keys = " keys ";"
	print "PRAGMA recursive_triggers = " recursive ";"
	print "CREATE TEMP TABLE mark AS SELECT 0 AS changes, group_concat('SELECT * FROM ' || name || ' NOT INDEXED', ';') AS tables"
	print "  FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@';"
}

/^## / { finish(); title = substr($0, 4); FNR_of_title = FNR; next }
title == "" || /^#/ { next }
/^forms: plain$/ { plain = 1; next }
/^(given|when|each|then):$/ { section = $1; next }
/^refused: / { refused = substr($0, 10); section = ""; next }
section == "given:" { given = given $0 "\n"; next }
section == "when:" { wanted = wanted $0 "\n"; next }
section == "each:" && NF { each = each $0 "\n"; next }
section == "then:" && /^\? / { queries = queries substr($0, 3) ";\n"; next }
section == "then:" && NF { rows = rows $0 "\n"; next }
NF { print file ":" FNR ": not understood: " $0 >"/dev/stderr"; exit 1 }
END { finish() }
