#!/usr/bin/env bash
# Measures SQLStreams: ./sqlstreams-bench.sh all, or --help. Builds the program first when its sources are newer.
# JAVA_OPTS is handed to Java.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
jar="$root/sqlstreams-bench/target/sqlstreams-bench.jar"
sources=("$root/pom.xml")
for module in sqlstreams sqlstreams-bench; do
  sources+=("$root/$module/pom.xml" "$root/$module/src/main")
done

if [[ ! -f "$jar" || -n "$(find "${sources[@]}" -newer "$jar" -print -quit)" ]]; then
  (cd "$root" && mvn -q -B -Dquick -Dmaven.test.skip=true -pl sqlstreams-bench -am package >&2)
  touch "$jar"
fi

# one heap size, so that runs can be compared; the last of several wins
# shellcheck disable=SC2086
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xms1g -Xmx1g ${JAVA_OPTS:-} -jar "$jar" "$@"
