# name: PETSc
# source: pip:petsc==3.22.2
# system: its own configure in Python, make; C
# needs: libblas-dev liblapack-dev
# results: 40
# measured: 4
# built: once

build() {
    export PETSC_DIR=$PWD PETSC_ARCH=here
    python3 ./configure --with-cc=mpicc --with-cxx=0 --with-fc=0 --with-x=0 --with-debugging=0 \
        --with-shared-libraries=1 COPTFLAGS=-O0 --with-make-np=2
    make MAKE_NP=2 all
}

check() {
    export PETSC_DIR=$PWD PETSC_ARCH=here
    # configure has kept the path of the launcher it found.
    make MPIEXEC="mpiexec --oversubscribe" check > check.out 2>&1 && code=0 || code=$?
    cat check.out >&2
    echo "make check ends with $code"
    grep -E 'successfully|[Ee]rror|[Ff]ail|[Pp]ossible' check.out || true
    # Some of its own tests, each of which compares its output with a recorded one. They are built
    # anew on each side.
    rm -rf $PETSC_ARCH/tests
    for tests in 'vec_vec_tutorials-ex1_*' 'ksp_ksp_tutorials-ex2_*' 'snes_tutorials-ex5_*'; do
        make -f gmakefile.test MPIEXEC="mpiexec --oversubscribe" TIMEOUT=300 search="$tests" test \
            > test.out 2>&1 || true
        cat test.out >&2
        grep -E '^ *(ok|not ok) ' test.out | sort
    done
}
