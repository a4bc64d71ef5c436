# shellcheck shell=sh
# What a compiler is told so that a program outside CMake stands on all of src/ and the worker's
# skeleton. Sourced by bench and fuzz. No path may hold a blank.

# The sources of the fake Slack, which a release does not have, from a folder beside theirs.
fake_slack_sources() {
  find ../slack -maxdepth 1 -name '*.c' ! -name slack_peer.c ! -name socket_client.c
}

# include_flags ROOT BUILD_DIR
include_flags() {
  for folder in "$1"/src/*/; do
    printf -- '-I%s ' "${folder%/}"
  done
  printf -- '-I%s/workers -I%s/generated' "$1" "$2"
}

# library_flags BUILD_DIR: the libraries of that build, in an order that needs no thought.
library_flags() {
  printf -- '-Wl,--start-group '
  printf '%s ' "$1"/lib/libintercom-*.a
  printf -- '-Wl,--end-group -Wl,--as-needed '
  pkg-config --libs sqlite3 libcjson uuid libcrypto libevent libcurl libpcre2-8
  printf -- ' -lstdc++ -lm'
}
