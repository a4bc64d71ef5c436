# Turns the cases of one file into a script for the sqlite3 shell (standard output) and what is
# expected of it (the file `expected`). The script's output is, for each case,
#   @given (errors) / @before (hash)
# and then, for each statement under `each:` and each of its forms, a block:
#   @case NUMBER / (errors) / @after (hash) / @then / (rows) / @end
# A case begins with the database as it was made, each block with what was given; both are rolled
# back. What is hashed is all that the tables hold: half of the time goes there.

function form_of(line, form) {
	if (form != "" && line ~ /^INSERT INTO /)
		sub(/^INSERT /, "INSERT OR " form " ", line)
	else if (form != "" && line ~ /^UPDATE /)
		sub(/^UPDATE /, "UPDATE OR " form " ", line)
	return line
}

function block(form,    i, n, lines) {
	number++
	print "@case " number "\t" FNR_of_title "\t" title (form == "" ? "" : " (OR " form ")") >expected
	print "@refused " (form != "" && refused != "" ? "*" : refused) >expected
	print rows >expected
	print "@end" >expected

	print "SAVEPOINT block;"
	print ".print @case " number
	n = split(wanted, lines, "\n")
	for (i = 1; i < n; i++)
		print form_of(lines[i], form)
	print ";"
	print ".print @after"
	if (refused != "")
		print ".sha3sum"
	print ".print @then"
	printf "%s", queries
	print ".print @end"
	print "ROLLBACK TO block;"
	print "RELEASE block;"
}

function forms() {
	block("")
	if (!plain && wanted ~ /(^|\n)(INSERT INTO|UPDATE) /) {
		block("IGNORE")
		block("REPLACE")
		block("FAIL")
	}
}

function finish(    i, n, lines, sentence) {
	if (title != "" && index(title, text)) {
		print "BEGIN;"
		print ".print @given"
		printf "%s", given
		print ";"
		print ".print @before"
		if (refused != "")
			print ".sha3sum"
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
