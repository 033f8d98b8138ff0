# name: HMMER
# source: apt:hmmer
# system: autoconf with AX_PROG_CC_MPI; C
# needs: autoconf
# results: 100
# measured: 2

build() {
    autoconf
    (cd easel && autoconf)
    ./configure --enable-mpi CFLAGS=-O1
    make -j2
}

check() {
    # What configure found.
    grep -h '^#define' src/p7_config.h easel/esl_config.h
    cd tutorial
    mpiexec -n 3 ../src/hmmsearch --mpi --noali globins4.hmm globins45.fa > search.out
    mpiexec -n 3 ../src/phmmer --mpi --noali HBB_HUMAN globins45.fa >> search.out
    cat search.out >&2
    # Without the comments, which tell how long a search took.
    grep -v '^#' search.out | grep .
}
