# host.sh COUNT DIRECTORY COMMAND...: as if ranks were on so many hosts, one after the other: each
# with a name and a directory of mapped files of its own, and a clock that differs from that of the
# first by 1,234 s a host and runs faster by 20 ppm.
count=$1 directory=$2
shift 2
host=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % count))
export TOPAS_MPI_SPOOL="$directory/$host" TOPAS_TEST_CLOCK="$((1234 * host)):$((20 * host))"
mkdir -p "$TOPAS_MPI_SPOOL"
user=
[ "$(id -u)" = 0 ] || user=--map-root-user
exec unshare --uts $user sh -c 'hostname "node'$host'" && exec "$@"' host "$@"
