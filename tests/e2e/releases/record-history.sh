#!/bin/sh
# Records the data directory of a release with 10,000 ended tasks, as a server leaves it that was stopped, for tests/e2e/releases_history.rs.
# usage: record-history.sh PROGRAM VERSION     (as root; needs jq and sqlite3; writes VERSION-history.tar.gz beside this file)
set -eu
program=$(realpath "$1") version=$2 here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d) data=$place/data
chmod 755 "$place"
trap 'kill -9 $server 2>/dev/null || true; rm -rf "$place"' EXIT
cd /
echo 'node_name = "lab1"' >"$place/danlu.toml"
env -i PATH=/usr/bin:/bin HOME=/ "$program" up --config "$place/danlu.toml" --listen 127.0.0.1:0 --data "$data" --sim-gpus 4 >"$place/out" 2>&1 &
server=$!
# as USER WORD…: what a user of this machine says.
as() {
	who=$1
	shift
	setpriv --reuid "$who" --clear-groups env -i PATH=/usr/bin:/bin HOME=/ DANLU_LANG=en DANLU_SERVER="$data/danlu.sock" "$program" "$@"
}
nth() { shift "$1" && echo "$2"; }
until grep -q ^socket "$place/out"; do sleep 0.1; done
until as root gpus --json | grep -q '"index":3'; do sleep 0.1; done

# 7,600 in arrays of 100, one of each fails.
number=0
while [ $number -lt 76 ]; do
	user=$(nth $((number % 4)) root nobody daemon games)
	project=$(nth $((number % 5)) vision llm 语音识别 bio robots)
	name=$(nth $((number % 3)) sweep 蒸馏实验 finetune)
	as "$user" submit -q -J "$name-$number" --project "$project" --label "group=g$((number % 7))" -a 0-99 \
		-- sh -c '[ "$DANLU_ARRAY_INDEX" != 13 ]' "train.py --run $number" >>"$place/ids"
	number=$((number + 1))
done
# 2,400 single ones: most succeed, some fail, some are cancelled, some have said something.
number=0
while [ $number -lt 2400 ]; do
	user=$(nth $((number % 4)) root nobody daemon games)
	name=$(nth $((number % 3)) train 预训练 eval)-$number
	label=seed=$number
	if [ $((number % 40)) = 7 ]; then
		id=$(as "$user" submit -q -J "$name" --label "$label" --hold -- true "$number")
		as "$user" cancel "$id" >/dev/null
	elif [ $((number % 17)) = 3 ]; then
		as "$user" submit -q -J "$name" --label "$label" --retries $((number % 2)) -- sh -c 'exit 3' "$number" >/dev/null
	elif [ $((number % 10)) = 9 ]; then
		as "$user" submit -q -g 1 -J "$name" --label "$label" --description "第 $number 次复现" -- echo "run $number" >/dev/null
	else
		as "$user" submit -q -g 1 -J "$name" --label "$label" --project vision -- true --seed $number >/dev/null
	fi
	number=$((number + 1))
done
as root wait --all >/dev/null 2>&1 || true
until [ "$(as root ls -a --json -n 1 --state open | jq .total)" = 0 ]; do sleep 0.2; done
# Open ones that name ended ones: held, to begin in another century, and blocked behind those.
as root submit -q -J 'held after' --hold -d afterok:1 -- echo held >>"$place/open"
as nobody submit -q -J 'begins later' --begin 2100-01-01T00:00:00Z -d afterany:14,afterok:2 -- echo later >>"$place/open"
as daemon submit -q -J '被阻塞' -d "afterok:$(tail -n 1 "$place/open")" -- echo blocked >>"$place/open"
[ "$(as root ls -a --json -n 1 | jq .total)" = 10003 ]

# What the test expects: id, user, state, name, project, exit code.
as root ls -a --json -n 100000 | jq -r '.tasks[] | [.id, .user, .state, .name, .project, .exit_code] | @tsv' >"$place/tasks.tsv"
sort -n -o "$place/tasks.tsv" "$place/tasks.tsv"
[ "$(wc -l <"$place/tasks.tsv")" = 10003 ]
as root down
wait $server || true
[ ! -e "$data/danlu.db-wal" ]
# As small as it can be: what was written where on the disk is of no interest.
sqlite3 "$data/danlu.db" vacuum
rm -rf "$data/danlu.sock" "$data"/node/spare/*
[ "$(ls "$data/node/runs" | wc -l)" = 0 ]
cp "$place/tasks.tsv" "$data/"
mv "$data" "$place/$version-history"
tar -C "$place" --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 -cf "$place/data.tar" "$version-history"
gzip -9 -n <"$place/data.tar" >"$here/$version-history.tar.gz"
ls -l "$here/$version-history.tar.gz"
