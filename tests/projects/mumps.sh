# name: MUMPS
# source: apt:mumps
# system: make; Fortran and C
# needs: libblas-dev liblapack-dev libmetis-dev libscotch-dev libscalapack-openmpi-dev
# results: 50
# measured: 4

build() {
    # As it comes for Debian, but for what has changed there: ScaLAPACK holds BLACS, gfortran wants
    # an option.
    sed 's/-lblacs-openmpi//; s/^OPTF .*/OPTF = -O0 -fallow-argument-mismatch/; s/^OPTC .*/OPTC = -O0/
        s/^OPTL .*/OPTL = -O0/' Make.inc/Makefile.debian.PAR > Makefile.inc
    # Its makefile knows no order of Fortran's modules: one job.
    make d
}

check() {
    cd examples
    for program in dsimpletest c_example dsimpletest_save_restore c_example_save_restore; do
        mpiexec -n 3 ./$program < input_simpletest_real > $program.out 2>&1 && code=0 || code=$?
        cat $program.out >&2
        echo "$program ends with $code"
        grep -E -i 'solution|INFOG|ordering|operations' $program.out | grep -v -i time | sort
    done
}
