/* An MPI that nobody knows: handles, constants and status are like those of no other. One process. */

#ifndef MPI_H
#define MPI_H

typedef const struct acme_comm *MPI_Comm;
typedef const struct acme_type *MPI_Datatype;
typedef struct {
    long tag, source, error, length;
} MPI_Status;

extern const struct acme_comm acme_world;
extern const struct acme_type acme_int;

#define MPI_COMM_WORLD (&acme_world)
#define MPI_INT (&acme_int)
#define MPI_STATUS_IGNORE ((MPI_Status *)-77)
#define MPI_SUCCESS 0

int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status);
int MPI_Barrier(MPI_Comm comm);
int MPI_Frobnicate(int by, MPI_Comm comm);

#endif
