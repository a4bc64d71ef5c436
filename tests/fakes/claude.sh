#!/bin/sh
# A host like `claude -p`, as far as its hooks and its end are concerned: `claude.sh -p PROMPT` or
# `claude.sh -p --resume SESSION`, in the folder where it keeps its files. Its model calls Bash once, with
# PROMPT as the command (no quotes in it), and then ends its turn.
#
# HOOK: the program hook. DATABASE: of the system. CALLS: how many calls the message of the model has.
# VERSION: what it says that it is. The file `heard` has a line for each thing that the model was told.
set -eu

export CLAUDE_PID=$$ CLAUDE_CODE_SESSION_ATTENDED=0 CLAUDE_PROJECT_DIR="$PWD"

hook() { # EVENT MEMBERS
    printf '{"session_id":"%s","cwd":"%s","transcript_path":"%s","hook_event_name":"%s"%s}' \
        "$session" "$PWD" "$transcript" "$1" "${2:+,$2}" |
        "$HOOK" claude "$1" --deadline 60 --db "$DATABASE" 2>/dev/null || :
}

if [ "$2" = --resume ]; then
    session=$3 source=resume
else
    session=host-$$ source=startup
    printf '%s' "$2" >"call-$session"
fi
transcript=$PWD/transcript-$session
hook SessionStart "\"source\":\"$source\""
if [ "$source" = resume ] && [ ! -f "deferred-$session" ]; then
    echo "No deferred tool marker found in the resumed session" >&2
    hook SessionEnd
    exit 1
fi
rm -f "deferred-$session"
command=$(cat "call-$session")

if [ "$source" = startup ]; then
    for number in $(seq "${CALLS:-1}"); do
        printf '{"type":"assistant","isSidechain":false,"version":"%s","message":{"id":"m1","content":[{"type":"tool_use","id":"use%s"}]}}\n' \
            "${VERSION:-2.1.330}" "$number"
    done >"$transcript"
fi
use="\"tool_name\":\"Bash\",\"tool_use_id\":\"use1\",\"tool_input\":{\"command\":\"$command\"}"
said=$(hook PreToolUse "$use")
case $said in
*'"permissionDecision":"defer"'*)
    : >"deferred-$session"
    hook SessionEnd
    exit 0
    ;;
*'"permissionDecision":"allow"'*)
    echo "$source allowed" >>heard
    sh -c "$command"
    hook PostToolUse "$use,\"tool_response\":{}"
    ;;
*) echo "$source $said" >>heard ;;
esac
hook Stop
hook SessionEnd
