#!/bin/sh
# Builds Citus and runs a coordinator with two workers on loopback, for tests with CITUS_URL:
#   test/support/citus.sh build SOURCE      compiles and installs a checkout of Citus 13.2
#   test/support/citus.sh start FOLDER      prints the value of CITUS_URL
#   test/support/citus.sh stop FOLDER
# Needs Debian's postgresql-15 and, to build, postgresql-server-dev-15, build-essential, flex,
# libreadline-dev, zlib1g-dev, liblz4-dev, libzstd-dev, libssl-dev, libkrb5-dev, libpam0g-dev,
# libselinux1-dev, libxml2-dev and libxslt1-dev. CITUS_PORT is the first of three ports.
set -eu

binaries=${POSTGRES_BINARIES:-/usr/lib/postgresql/15/bin}
port=${CITUS_PORT:-9700}
# Postgres refuses root; Debian's package has made this account.
account=postgres

build() {
  cd "$1"
  # Postgres 15.18 exports the function of which Citus has a copy under the same name.
  name='have_createdb_privilege\(void\)'
  perl -0pi -e "s/static inline (bool)\\n($name)\\n\\{.*?\\n\\}\\n/extern \\1 \\2;\\n/s" \
    src/include/pg_version_compat.h
  PG_CONFIG="$binaries/pg_config" ./configure --without-libcurl --with-security-flags=no
  make -j2 extension COPT=-w
  make install-extension
}

run() {
  if [ "$(id -u)" = 0 ]; then
    (cd / && setpriv --reuid "$account" --regid "$account" --clear-groups "$@")
  else
    "$@"
  fi
}

# Runs SQL on the server of a port.
query() {
  run "$binaries/psql" -X -q -t -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$1" -U waggle -d postgres \
    -c "$2"
}

# Starts server number $2 in folder $1. A test run need not survive a power failure.
launch() {
  data="$1/$2"
  [ -e "$data/PG_VERSION" ] || run "$binaries/initdb" --no-sync -D "$data" -U waggle --auth trust \
    --encoding UTF8 --locale C.UTF-8 >/dev/null
  cat >"$data/postgresql.auto.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
port = $((port + $2))
unix_socket_directories = ''
shared_preload_libraries = 'citus,pg_stat_statements'
wal_level = logical
max_connections = 500
max_prepared_transactions = 500
max_locks_per_transaction = 512
max_worker_processes = 200
shared_buffers = '64MB'
fsync = off
synchronous_commit = off
full_page_writes = off
jit = off
timezone = 'UTC'
log_min_error_statement = panic
# Each database of a test file has all shards.
citus.shard_count = 4
citus.shard_replication_factor = 1
citus.node_conninfo = 'sslmode=prefer'
# A test has thousands of statements, and one machine has them all.
citus.recover_2pc_interval = -1
citus.enable_statistics_collection = off
# Tests count the statements that are routed to one shard.
citus.enable_stat_counters = on
# Tests lock shards.
citus.enable_manual_changes_to_shards = on
SETTINGS
  chown -R "$(stat -c %u:%g "$data")" "$data"
  run "$binaries/pg_ctl" -D "$data" -l "$data/log" -w start >/dev/null
}

start() {
  mkdir -p "$1"
  [ "$(id -u)" = 0 ] && chown "$account:" "$1"
  for server in 0 1 2; do
    launch "$1" "$server"
    query "$((port + server))" 'create extension if not exists citus' 2>/dev/null
  done
  query "$port" "select citus_set_coordinator_host('127.0.0.1', $port)" >/dev/null
  for server in 1 2; do
    query "$port" "select citus_add_node('127.0.0.1', $((port + server)))" >/dev/null
  done
  echo "postgres://waggle@127.0.0.1:$port/postgres"
}

stop() {
  for server in 0 1 2; do
    run "$binaries/pg_ctl" -D "$1/$server" -m immediate stop >/dev/null || true
  done
}

"$@"
