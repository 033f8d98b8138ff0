# name: mpi4py
# source: pip:mpi4py==4.1.2
# system: setup.py with MPICC, Cython; C
# needs: python3-dev python3-pip
# results: 200
# measured: 0

build() {
    # One file of 5 MB is most of it.
    CFLAGS=-O0 python3 -m pip install --quiet --no-deps --target installed .
}

check() {
    export PYTHONPATH=$PWD/installed
    cd test
    for ranks in 1 2; do
        mpiexec -n $ranks python3 main.py --verbose --no-threads test_comm test_msgspec test_cco_buf \
            test_p2p_buf test_datatype test_op test_win test_io test_attributes > ../run.out 2>&1 &&
            code=0 || code=$?
        cat ../run.out >&2
        echo "$ranks ranks end with $code"
        grep -E '\.\.\. (ok|FAIL|ERROR|skipped)' ../run.out | sed 's/^\[[^]]*\] *//' | sort
    done
}
