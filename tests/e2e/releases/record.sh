#!/bin/sh
# Records the data directory of a release, as a killed server leaves it, for tests/e2e/releases.rs.
# usage: record.sh PROGRAM VERSION     (as root; writes VERSION.tar.gz beside this file)
set -eu
program=$(realpath "$1") version=$2 here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d) data=$place/data
trap 'kill -9 $server $left 2>/dev/null || true; rm -rf "$place"' EXIT
left=
danlu() { env -i PATH=/usr/bin:/bin HOME=/ DANLU_LANG=en DANLU_SERVER="$data/danlu.sock" "$program" "$@"; }
cd /
echo 'node_name = "lab1"' >"$place/danlu.toml"
env -i PATH=/usr/bin:/bin HOME=/ "$program" up --config "$place/danlu.toml" --listen 127.0.0.1:0 --data "$data" --sim-gpus 4 >"$place/out" 2>&1 &
server=$!
until grep -q ^socket "$place/out"; do sleep 0.1; done
until danlu gpus --json | grep -q '"index":3'; do sleep 0.1; done

# Accounts: an admin with a password, a user with a token, one who is locked.
echo 'correct horse' | danlu user add ann --admin --password-stdin
danlu user add bo --os-user nobody
danlu user add eve
danlu user lock eve
danlu token new laptop --scope submit -q >"$place/token"
# A machine that is away, with a label.
danlu node add gpu9 --ssh nobody@127.0.0.1:9 --label room=b12
danlu set quota.user.bo.running_gpus 2 || true
danlu announce 'Maintenance on Friday'

danlu submit -q -J succeeded -- sh -c 'echo hello; exit 0'
danlu submit -q -J failed --retries 1 -- sh -c 'echo "RuntimeError: CUDA out of memory" >&2; exit 3'
danlu submit -q -J 'swept {lr}' --grid lr=1e-3,1e-4 -- echo '{lr}'
danlu wait --all || true
# Two that run when the server is killed; shims are told apart by their run directories.
danlu submit -q -J running -g 2 -t 2h -- sleep 86400
danlu submit -q -J also-running -g 1 --label k=v --project vision -- sleep 86400
danlu submit -q -J queued -g 4 --description '等待四张卡' --env A=b -- echo later
danlu submit -q -J blocked -d afterok:6 -- echo after
danlu submit -q -J held --hold -- echo never
danlu submit -q -J array -a 0-3%2 -g 1 --begin 2100-01-01T00:00:00Z -- echo one
cancelled=$(danlu submit -q -J cancelled --hold -- echo no)
danlu cancel "$cancelled"
until [ "$(danlu ls --json | grep -o '"state":"running"' | wc -l)" = 2 ]; do sleep 0.1; done
danlu ls -a --json -n 100 >"$place/ls.json"
# What runs is ended with the recording: shims first, which would note the ends of their commands.
left=$(cat "$data"/node/runs/*/state.json | grep -oE '"(pid|leader)":[0-9]+' | cut -d: -f2)
kill -9 $server
sleep 0.5
rm -f "$data/danlu.sock"
cp "$place/ls.json" "$place/token" "$data/"
mv "$data" "$place/$version"
tar -C "$place" --owner=0 --group=0 --numeric-owner --mtime=2026-01-01 -czf "$here/$version.tar.gz" "$version"
ls -l "$here/$version.tar.gz"
