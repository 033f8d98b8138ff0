# name: HPCC
# source: apt:hpcc
# system: make, C
# needs: libblas-dev
# results: 20
# measured: 1

build() {
    # A site's own file, which HPCC asks for.
    cat > hpl/Make.here <<'END'
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir
RM = /bin/rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
LAlib = -lblas
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) $(LAlib) -lm
HPL_OPTS = -DHPL_NO_MPI_DATATYPE
HPL_DEFS = $(F2CDEFS) $(HPL_OPTS) $(HPL_INCLUDES)
CC = mpicc
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O1
LINKER = mpicc
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
END
    make -j2 arch=here
}

check() {
    # A problem of 200 unknowns in place of 1000.
    sed 's/^1000 \( *Ns\)/200 \1/' _hpccinf.txt > hpccinf.txt
    mpiexec -n 4 ./hpcc >&2
    # Sizes, verdicts and errors; neither rates nor times, nor the residual of DGEMM, whose
    # matrix is random.
    awk '/^(WALL|CPU) +[0-9]/ { print $1, $2, $3, $4, $5, $6, $7, $9 }
        /tests completed|\.\.\. (PASSED|FAILED)|Errors|[Ff]ailures|^Success|^PTRANS_residual/' hpccoutf.txt
    grep -E '^(CommWorldProcs|HPL_N|HPL_NB|HPL_nprow|HPL_npcol|PTRANS_n|StarDGEMM_N|MPIFFT_N|MPIRandomAccess_N)=' \
        hpccoutf.txt
}
