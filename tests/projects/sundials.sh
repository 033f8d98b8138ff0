# name: SUNDIALS
# source: apt:sundials
# system: CMake with FindMPI, whose drivers become the compilers of a directory; C, C++, Fortran
# needs: cmake
# results: 100
# measured: 5

build() {
    cmake -S . -B build -DENABLE_MPI=ON -DBUILD_FORTRAN_MODULE_INTERFACE=ON -DEXAMPLES_INSTALL=OFF \
        -DEXAMPLES_ENABLE_CXX=ON -DBUILD_STATIC_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O0
    make -C build -j2 cvAdvDiff_non_p cvDiurnal_kry_p test_nvector_mpi \
        test_nvector_mpimanyvector_parallel1 test_fnvector_parallel_mod
}

check() {
    # What CMake found of MPI, apart from the drivers.
    grep -E '^MPI_(C|CXX|Fortran)_[A-Z_]*(WORKS|LIB_NAMES|VERSION|INCLUDE_PATH|HAVE|HDR)[A-Z_]*:' build/CMakeCache.txt
    cd build/examples
    for run in '2 cvode/parallel/cvAdvDiff_non_p' '4 cvode/parallel/cvDiurnal_kry_p' \
        '4 nvector/parallel/test_nvector_mpi 1000 0' \
        '2 nvector/mpimanyvector/test_nvector_mpimanyvector_parallel1 100 20 0' \
        '4 nvector/parallel/test_fnvector_parallel_mod'; do
        set -- $run
        ranks=$1 program=$2
        shift 2
        mpiexec -n "$ranks" "$program" "$@" > run.out 2>&1 && code=0 || code=$?
        cat run.out >&2
        echo "$program ends with $code"
        grep -v -i 'time' run.out | sort
    done
}
