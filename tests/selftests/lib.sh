#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh - for tests that are scripts: source it first
#
#	. "$(dirname "$(realpath "$0")")/lib.sh"
#	setup_ns a b
#	ip -n "$a" link add g0 type gsotun
#	wait_for 5 "g0 has carrier" carrier "$a" g0
#	run_test pings ping_works
#	finish
#
# Namespaces have unique names; they, and processes given to started, go when
# the script ends, whatever its reason. Results are KTAP.

here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
top=$(realpath "$here/../..")
export here top
# shellcheck disable=SC2034 # for those who source this
bin=$top/build/tests/selftests
export PATH=$top/build/userspace:$PATH
export LD_LIBRARY_PATH=$top/build/userspace

ksft_skip=4
lib_namespaces=() lib_pids=()
lib_count=0 lib_failures=0 lib_skips=0

lib_cleanup() {
	local pid ns

	for pid in "${lib_pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for ns in "${lib_namespaces[@]}"; do
		ip netns del "$ns" 2>/dev/null
	done
}
trap lib_cleanup EXIT
trap 'exit 130' INT TERM HUP

echo "TAP version 13"

# setup_ns VARIABLE...: a namespace with lo up for each, its name in the variable
setup_ns() {
	local lib_var lib_ns

	for lib_var; do
		lib_ns=$lib_var-$$
		ip netns add "$lib_ns" || exit 1
		lib_namespaces+=("$lib_ns")
		ip -n "$lib_ns" link set lo up
		printf -v "$lib_var" %s "$lib_ns"
	done
}

# started PID: kill it at the end
started() { lib_pids+=("$1"); }

# stop PID: kill and wait now
stop() { kill "$1" 2>/dev/null; wait "$1" 2>/dev/null; }

# wait_for SECONDS WHAT COMMAND...: until the command succeeds; says if it did not
wait_for() {
	local end=$((SECONDS + $1)) what=$2

	shift 2
	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "# waited in vain: $what"
			return 1
		fi
		sleep 0.05
	done
}

# carrier NAMESPACE DEVICE
carrier() { ip -n "$1" -o link show "$2" | grep -q 'LOWER_UP'; }

# run_test NAME COMMAND...: one result; status 4 is a skip
run_test() {
	local name=$1 status=0

	shift
	"$@" || status=$?
	lib_count=$((lib_count + 1))
	case $status in
	0) echo "ok $lib_count $name" ;;
	"$ksft_skip")
		lib_skips=$((lib_skips + 1))
		echo "ok $lib_count $name # SKIP"
		;;
	*)
		lib_failures=$((lib_failures + 1))
		echo "not ok $lib_count $name"
		;;
	esac
}

# finish: the plan, and the exit status
finish() {
	echo "1..$lib_count"
	[ "$lib_failures" = 0 ] || exit 1
	[ "$lib_skips" = 0 ] || [ "$lib_skips" != "$lib_count" ] || exit "$ksft_skip"
	exit 0
}
