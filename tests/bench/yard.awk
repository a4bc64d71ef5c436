# Compares figures (second file) with those of ratchet.txt (first file). Exit status 1 if one is more
# than 5 % worse. made_by: what instructions depend on besides our sources.
BEGIN {
	worst_ratio = 1.05
}

FNR == NR && $1 == "with" {
	sub(/^with /, "")
	alike = ($0 == made_by)
	recorded_by = $0
}

FNR == NR {
	if (NF == 2 && $1 ~ /\./)
		before[$1] = $2
	next
}

{
	seen[$1] = 1
	ratio = before[$1] > 0 ? $2 / before[$1] : ($2 > 0 ? 999 : 1)
	verdict = ""
	if (!($1 in before)) {
		verdict = "is not in ratchet.txt"
		failed = 1
	} else if ($1 ~ /\.instructions$/ && !alike) {
		skipped++
		verdict = "not compared"
	} else if (ratio > worst_ratio) {
		verdict = "WORSE"
		failed = 1
	} else if (ratio * worst_ratio < 1) {
		verdict = "better"
		better = 1
	}
	printf "%-32s %10s %10s %7.3f  %s\n", $1, $2, before[$1], ratio, verdict
}

END {
	for (name in before)
		if (!(name in seen)) {
			print name ": was not measured"
			failed = 1
		}
	if (skipped)
		printf "skipped: instructions are not compared: they were recorded with %s; here: %s\n",
		       recorded_by, made_by
	if (better)
		print "better by more than 5 %: keep it: sh tests/bench/yard.sh --update"
	if (failed) {
		print "more than 5 % worse than tests/bench/ratchet.txt. If that is worth it, commit the"
		print "file as written by: sh tests/bench/yard.sh --update"
		exit 1
	}
}
