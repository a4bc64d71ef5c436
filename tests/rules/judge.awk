# Compares what the shell said with what was expected of it, block by block.

function fail(what) {
	failed++
	print "FAILED " file ":" line[n] ": " title[n] " [" how "]"
	print what
}

function judge() {
	if (trouble != "")
		return fail("  trouble under given:\n    " trouble)
	if (refused[n] == "" && error != "")
		return fail("  refused:  " error "\n  expected: no error")
	if (refused[n] != "" && (before != after || before == ""))
		return fail("  it was refused, and yet rows changed")
	if (refused[n] != "" && refused[n] != "*" && index(error, refused[n]) != 1)
		return fail("  refused:  " (error == "" ? "(no error)" : error) "\n  expected: " refused[n])
	if (actual != rows[n])
		return fail("  actual:\n" indent(actual) "  expected:\n" indent(rows[n]))
	passed++
}

function indent(block) {
	gsub(/\n/, "\n    ", block)
	return "    " substr(block, 1, length(block) - 4)
}

function message(l) {
	sub(/^(Runtime error|Parse error|Error) near line [0-9]+: /, "", l)
	sub(/ \([0-9]+\)$/, "", l)
	return l
}

BEGIN {
	while ((getline l <expected) > 0) {
		if (l ~ /^@case /) {
			split(l, part, "\t")
			n = substr(part[1], 7)
			line[n] = part[2]
			title[n] = part[3]
			count++
		} else if (l ~ /^@refused/)
			refused[n] = substr(l, 10)
		else if (l != "@end" && l != "")
			rows[n] = rows[n] l "\n"
	}
}

/^@given$/ { where = "given"; trouble = ""; next }
/^@case / { n = $2; where = "when"; error = before = after = actual = ""; next }
/^@after$/ { where = "after"; next }
/^@then$/ { where = "then"; next }
/^@undone$/ { where = "undone"; next }
/^@end$/ { judge(); judged++; where = "given"; next }
where == "given" { trouble = trouble message($0) " " }
where == "when" && error == "" { error = message($0) }
where == "after" { after = $0 }
where == "then" { actual = actual message($0) "\n" }
where == "undone" { before = $0 }

END {
	if (judged != count) {
		failed++
		print "FAILED " file " [" how "]: " judged + 0 " of " count + 0 " cases came to their end"
	}
	print "passed", passed + 0, "failed", failed + 0
}
