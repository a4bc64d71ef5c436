# The table. partly: rows that were not measured are left out. Results: lines "KEY ours|yard VALUE", one per round. Rows: lines
#   TITLE | UNIT | KEY of ours | KEY of the yardstick or - | its NAME or - | GOAL or -
# KEY may be KEY/ours or KEY/yard, to take the other side. A goal is "<= X" or ">= X": of the ratio
# where there is a yardstick, of our own value otherwise.

function sorted(key, out,    n, i, j, v) {
	n = count[key]
	for (i = 1; i <= n; i++) {
		v = value[key, i]
		for (j = i - 1; j >= 1 && out[j] > v; j--)
			out[j + 1] = out[j]
		out[j + 1] = v
	}
	return n
}

function median(key,    v, n) {
	n = sorted(key, v)
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function number(x) {
	return x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.3g", x)
}

function spread(key,    v, n) {
	n = sorted(key, v)
	if (n == 1)
		return number(v[1])
	return number(median(key)) " (" number(v[1]) ".." number(v[n]) ")"
}

# The ratio round by round, as values of its own.
function ratios(ours, yard,    i, n, key) {
	key = ours "/" yard
	n = count[ours] < count[yard] ? count[ours] : count[yard]
	for (i = 1; i <= n; i++)
		if (value[yard, i] > 0)
			value[key, ++count[key]] = value[ours, i] / value[yard, i]
	return key
}

function met(goal, x,    part) {
	split(goal, part, " ")
	return part[1] == "<=" ? x <= part[2] : x >= part[2]
}

function trim(s) {
	gsub(/^ +| +$/, "", s)
	return s
}

function side(key, otherwise) {
	return key ~ /\/(ours|yard)$/ ? key : key "/" otherwise
}

FILENAME != "-" {
	key = $1 "/" $2
	value[key, ++count[key]] = $3
	next
}

FNR == 1 {
	line = "%-44s %-26s %-42s %-22s %-10s %s\n"
	printf line, "measure", "ours: median (min..max)", "yardstick", "ratio", "goal", ""
}

{
	n = split($0, field, "|")
	for (i = 1; i <= n; i++)
		field[i] = trim(field[i])
	title = field[1] ", " field[2]
	ours = side(field[3], "ours")
	yard = field[4] == "-" ? "" : side(field[4], "yard")
	goal = field[6] == "-" ? "" : field[6]
	if (!count[ours] || (yard && !count[yard])) {
		if (partly)
			next
		printf line, title, "not measured", "", "", goal, ""
		next
	}
	key = yard ? ratios(ours, yard) : ours
	verdict = short || !goal ? "" : met(goal, median(key)) ? "met" : "MISSED"
	missed += verdict == "MISSED"
	printf line, title, spread(ours), yard ? spread(yard) " " field[5] : "",
	       yard ? spread(key) : "", goal, verdict
}

END {
	if (short)
		print "\nEverything runs. These figures are too small to judge anything by."
	else
		print "\n" (missed ? missed " missed" : "all met") "; figures of one machine at one time: only the ratios mean something."
}
