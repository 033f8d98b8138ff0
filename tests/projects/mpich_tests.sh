# name: MPICH's test suite
# source: apt:mpich
# system: autotools; C, C++, Fortran by mpif.h, mpi and mpi_f08
# needs: g++ gfortran make
# mpi: openmpi mpich
# results: 250
# measured: 0
# profiles: 200

# Directories, of which those in Fortran have the same again inside. Left out: those that start
# processes while others wait (spawn, and io where ranks share a file pointer) depend on who gets a
# processor.
dirs='attr group topo info init comm pt2pt datatype f77 f90 f08 coll'
mine='attr coll comm datatype ext info init pt2pt subarray topo f90types'

# Longer than the limit below by themselves, or as often as not, on two processors.
slow='comm/ctxalloc comm/ctxsplit comm/cmfree coll/nonblocking3 coll/nonblocking4 pt2pt/sendself'

# Open MPI 4.1 reads a variable that was never set when it is asked for the datatypes of one that
# has none: what happens depends on what stood on the stack before.
broken='f90/f90types/createf90types f08/f90types/createf90types'

build() {
    cd test/mpi
    ./configure --with-mpi= MPICC=mpicc MPICXX=mpicxx MPIF77=mpif77 MPIFC=mpif90 MPIEXEC=mpiexec \
        CC=gcc CXX=g++ F77=gfortran FC=gfortran --disable-ft-tests \
        FFLAGS='-O0 -w -fallow-argument-mismatch' FCFLAGS='-O0 -w -fallow-argument-mismatch' \
        CFLAGS='-O0 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0' > /dev/null
    # What an MPI does not have is not built; both sides have the same programs.
    make -s -k -C util CFLAGS='-O0 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0' || true
    make -s -k -C dtpools CFLAGS='-O0 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0' || true
    (cd util && mpif90 -O0 -w -c mtest_f08.f90 -o mtest_f08.o)
    for dir in $dirs; do
        more=
        [ $dir = f08 ] && more=LDADD=../../util/mtest_f08.o
        make -s -k -j2 -C $dir CFLAGS='-O0 -w -DOMPI_OMIT_MPI1_COMPAT_DECLS=0' $more || true
    done
}

# one DIRECTORY PROGRAM [RANKS] [arg=WORD|env=NAME=VALUE|xfail=...]...: a line of a testlist.
one() {
    dir=$1 program=$2 ranks=2 args= envs=
    shift 2
    case ${1:-} in [0-9]*) ranks=$1; shift ;; esac
    for word in "$@"; do
        case $word in
            arg=*) args="$args ${word#arg=}" ;;
            env=*) envs="$envs ${word#env=}" ;;
            # Known to fail, or judged by something else than what it says.
            xfail=* | resultTest=*) return 0 ;;
        esac
    done
    [ "$ranks" -le 4 ] && [ -x $dir/$program ] || return 0
    case " $slow $broken " in *" $dir/$program "*) return 0 ;; esac
    code=0
    (cd $dir && env $envs timeout -k 5 60 mpiexec -n $ranks ./$program $args \
        > $TMPDIR/said 2>&1 < /dev/null) || code=$?
    echo "$dir/$program $ranks$args$envs: $code, $(grep -c -i 'no errors' $TMPDIR/said || true)"
    cat $TMPDIR/said >&2
}

# list DIRECTORY: its testlist, and those of the directories it names.
list() {
    [ -f $1/testlist ] || return 0
    while IFS= read -r line; do
        line=${line%%#*}
        set -f
        set -- $1 $line
        set +f
        [ $# -ge 2 ] || continue
        if [ -d $1/$2 ]; then
            case " $mine " in *" $2 "*) (list $1/$2) ;; esac
        else
            (one "$@")
        fi
    done < $1/testlist
}

check() {
    cd test/mpi
    for dir in $dirs; do
        (list $dir)
    done
}
