#!/usr/bin/env bash
# The command line from a checkout: builds the jar when it is missing or older than a source, then runs it.
# Needs Java 17 or above; Maven too where there is something to build.
set -euo pipefail

fail() {
  echo "sqlstreams: $1" >&2
  exit 1
}

here=${BASH_SOURCE[0]}
while [ -L "$here" ]; do # a link to this script may lie anywhere
  target=$(readlink "$here")
  case $target in
    /*) here=$target ;;
    *) here=$(dirname "$here")/$target ;;
  esac
done
root=$(cd -P "$(dirname "$here")" && pwd)
jar=$root/sqlstreams-cli/target/sqlstreams-cli.jar
sources=(pom.xml sqlstreams/pom.xml sqlstreams/src/main sqlstreams-cli/pom.xml sqlstreams-cli/src/main)

java=java
if [ -n "${JAVA_HOME:-}" ] && [ -x "$JAVA_HOME/bin/java" ]; then
  java=$JAVA_HOME/bin/java
fi
command -v "$java" > /dev/null || fail "Java is missing: install Java 17 or above, or set JAVA_HOME"

is_current() {
  [ -f "$jar" ] && [ -z "$(cd "$root" && find "${sources[@]}" -newer "$jar" -print -quit)" ]
}

build() {
  local begin
  command -v mvn > /dev/null || fail "Maven is missing: install Maven 3.8.6 or above, which builds the command line on first use"
  begin=$(mktemp)
  echo "sqlstreams: building the command line, once for each change of the sources" >&2
  (cd "$root" && mvn -q -B -Dquick -Dmaven.test.skip=true -pl sqlstreams-cli -am package) < /dev/null >&2 ||
    fail "the build failed: what Maven says is above"
  touch -r "$begin" "$jar" # what was changed during the build is newer
  rm -f "$begin"
}

is_current || build

# In a locale without UTF-8 Java can't read arguments that aren't ASCII.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
  *UTF-8 | *utf8 | *utf-8 | *UTF8) ;;
  *) export LC_ALL=C.UTF-8 ;;
esac

exec "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$jar" "$@"
