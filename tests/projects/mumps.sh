# name: MUMPS
# source: apt:mumps
# system: make; Fortran and C
# needs: libblas-dev liblapack-dev libmetis-dev libscotch-dev libscalapack-openmpi-dev
# results: 30
# measured: 5

build() {
    # As it comes for Debian and Open MPI, but for the option newer gfortran needs.
    sed 's/^OPTF .*/OPTF = -O0 -fallow-argument-mismatch/; s/^OPTC .*/OPTC = -O0/; s/^OPTL .*/OPTL = -O0/' \
        Make.inc/Makefile.debian.PAR > Makefile.inc
    make -j2 s d
    make -j2 c z
}

check() {
    cd examples
    for program in ssimpletest dsimpletest csimpletest zsimpletest c_example multiple_arithmetics_example; do
        case $program in
        [sd]simpletest) input=input_simpletest_real ;;
        [cz]simpletest) input=input_simpletest_cmplx ;;
        *) input=/dev/null ;;
        esac
        mpiexec -n 3 ./$program < $input > $program.out 2>&1 && code=0 || code=$?
        cat $program.out >&2
        echo "$program ends with $code"
        grep -E -i 'solution|INFOG|ordering|operations' $program.out | grep -v -i time | sort
    done
}
