/* Calls MPI from exchange() in a process that looks like one with Python to whoever asks the loader, but whose frames
   are not where those of Python are. The first word is its version, the second is what the thread's state leads to. */
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

#define WORDS 512

/* With the type of each object behind its first word, as in Python. */
void *PyCode_Type[WORDS], *PyUnicode_Type[WORDS], *PyBytes_Type[WORDS];
static const char *version;
static void **state;

const char *Py_GetVersion(void) { return version; }
void *PyGILState_GetThisThreadState(void) { return state; }

static void fill(void *with)
{
    for (int i = 0; i < WORDS; i++)
        state[i] = with;
}

static void make(const char *kind)
{
    state = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (strcmp(kind, "gone") == 0)
        munmap(state, 4096);
    else if (strcmp(kind, "low") == 0)
        fill((void *)16);
    else if (strcmp(kind, "odd") == 0)
        fill((char *)state + 1);
    else if (strcmp(kind, "kernel") == 0)
        fill((void *)0xffff800000000000);
    else if (strcmp(kind, "edge") == 0)
        fill((char *)state + 4096 - 4);
    else if (strcmp(kind, "circle") == 0)
        fill(state);
    else if (strcmp(kind, "code") == 0) {
        /* Everything is code, of which the file and the names are code, too. */
        fill(state);
        state[1] = PyCode_Type;
    }
}

__attribute__((noinline)) static void exchange(void)
{
    for (volatile int i = 0; i < 5; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    version = argv[1];
    make(argv[2]);
    MPI_Init(&argc, &argv);
    exchange();
    MPI_Finalize();
    return 0;
}
