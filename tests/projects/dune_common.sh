# name: dune-common
# source: apt:dune-common
# system: CMake with FindMPI; C++
# needs: cmake libblas-dev liblapack-dev
# results: 15
# measured: 8

build() {
    cmake -S . -B build -DCMAKE_CXX_FLAGS=-O0 -DBUILD_SHARED_LIBS=ON -DDUNE_ENABLE_PYTHONBINDINGS=OFF \
        -DDUNE_MAX_TEST_CORES=4 -DCMAKE_DISABLE_FIND_PACKAGE_Doxygen=ON
    make -C build -j2 dunecommon
    # The tests of its parallel part.
    sed -n 's/^dune_add_test(SOURCES \([a-z]*\)\.cc.*/\1/p' dune/common/parallel/test/CMakeLists.txt |
        xargs make -C build -j2
}

check() {
    cd build/dune/common/parallel/test
    ctest --output-on-failure > ctest.out 2>&1 || true
    cat ctest.out >&2
    # The verdict behind the name of each test, without the time.
    sed -n 's/^ *[0-9]*\/[0-9]* *Test *#[0-9]*: \([^ ]*\) \.*\(.*[A-Za-z]\) *[0-9.]* sec.*/\1 \2/p' ctest.out | sort
}
