# name: HDF5
# source: apt:hdf5
# system: autotools, libtool; C
# needs: zlib1g-dev
# results: 60
# measured: 6

build() {
    ./configure --enable-parallel --disable-hl --disable-fortran --disable-cxx --disable-static \
        --enable-build-mode=debug CFLAGS=-O0 CC=mpicc
    make -j2 -C src
    make -j2 -C test libh5test.la
    make -j2 -C testpar t_mpi testphdf5 t_pread t_pshutdown t_prestart t_init_term
}

check() {
    cd testpar
    # Without the longest: t_cache, t_cache_image, t_shapesame, t_filters_parallel, t_bigio.
    for test in t_mpi testphdf5 t_pread t_pshutdown t_prestart t_init_term; do
        mpiexec -n 4 ./$test > $test.out 2>&1 && code=0 || code=$?
        cat $test.out >&2
        echo "$test ends with $code"
        # The order of ranks is chance.
        grep -E 'PASSED|SKIP|FAILED|^(Testing|===.*OK)|tests finished' $test.out | sort | uniq -c |
            grep -v -i 'time' || true
    done
}
