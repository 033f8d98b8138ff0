// topas: ranks=8 args=100 expect: lang=c lib=mpi end=exit:0
// topas: expect: stdout="cg: 100 x 100 points, 8 ranks" stdout="cg: converged after"
//
// Conjugate gradients for one implicit time step of heat conduction on the unit square:
// (1 + R A) u = b with the five-point Laplacian A on a uniform grid of N x N inner
// points, edges held at 0. Rows are distributed over the ranks; neighbours exchange edge
// rows before each product, dot products are reduced over all.
//
// The right-hand side is made from a known solution, and the program checks the result
// against it: exit code 1 if the iteration does not converge or finds another solution.
//
// Usage: cg [points per side]

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_POINTS = 900, MOST_POINTS = 20000 };

static const double R = 3;             // time step over grid spacing squared
static const double TOLERANCE = 1e-8;  // of the residual, relative to the first
static const double LARGEST_ERROR = 1e-6;

// This rank's part of the grid. A vector has a row of the neighbour above, `rows` of our
// own and a row of the neighbour below, each with a zero at both ends: row r, column c is
// at r * stride + c, and our own points are 1..rows, 1..n.
struct grid {
    int n, first, rows, above, below;
    size_t stride;
};

static struct grid distribute(int n, int rank, int ranks)
{
    int rest = n % ranks;
    struct grid g = {
        .n = n,
        .first = 1 + rank * (n / ranks) + (rank < rest ? rank : rest),
        .rows = n / ranks + (rank < rest),
        .above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        .below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL,
        .stride = (size_t)n + 2,
    };
    return g;
}

static double *new_vector(const struct grid *g)
{
    double *v = calloc((size_t)(g->rows + 2) * g->stride, sizeof *v);
    if (v == NULL) {
        fprintf(stderr, "cg: no memory for %d rows of %d points\n", g->rows, g->n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return v;
}

static void exchange_edges(const struct grid *g, double *v)
{
    double *last = v + (size_t)g->rows * g->stride;
    MPI_Sendrecv(last + 1, g->n, MPI_DOUBLE, g->below, 1, v + 1, g->n, MPI_DOUBLE, g->above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(v + g->stride + 1, g->n, MPI_DOUBLE, g->above, 2, last + g->stride + 1, g->n,
                 MPI_DOUBLE, g->below, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// result = (1 + R A) v, where A has 4 on the diagonal and -1 for each neighbour.
static void multiply(const struct grid *g, double *v, double *result)
{
    exchange_edges(g, v);
    for (int r = 1; r <= g->rows; r++) {
        const double *row = v + (size_t)r * g->stride;
        const double *up = row - g->stride, *down = row + g->stride;
        double *to = result + (size_t)r * g->stride;
        for (int c = 1; c <= g->n; c++)
            to[c] = (1 + 4 * R) * row[c] - R * (row[c - 1] + row[c + 1] + up[c] + down[c]);
    }
}

static double dot(const struct grid *g, const double *a, const double *b)
{
    double mine = 0, all;
    for (int r = 1; r <= g->rows; r++)
        for (int c = 1; c <= g->n; c++)
            mine += a[(size_t)r * g->stride + c] * b[(size_t)r * g->stride + c];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

// a = a * scale + b * factor
static void combine(const struct grid *g, double *a, double scale, const double *b, double factor)
{
    for (int r = 1; r <= g->rows; r++)
        for (int c = 1; c <= g->n; c++) {
            size_t at = (size_t)r * g->stride + c;
            a[at] = a[at] * scale + b[at] * factor;
        }
}

// The known solution: noise, from a hash of the point, so that every part of the matrix
// matters and a mix-up of rows and columns shows.
static double noise(unsigned row, unsigned column)
{
    unsigned mixed = (row * 2654435761u) ^ (column * 2246822519u);
    mixed = (mixed ^ mixed >> 15) * 3266489917u;
    return (double)(mixed >> 8) / (1 << 24);
}

static void set_solution(const struct grid *g, double *v)
{
    for (int r = 1; r <= g->rows; r++)
        for (int c = 1; c <= g->n; c++)
            v[(size_t)r * g->stride + c] = noise((unsigned)(g->first + r - 1), (unsigned)c);
}

static double largest_difference(const struct grid *g, const double *a, const double *b)
{
    double mine = 0, all;
    for (int r = 1; r <= g->rows; r++)
        for (int c = 1; c <= g->n; c++) {
            double d = a[(size_t)r * g->stride + c] - b[(size_t)r * g->stride + c];
            d = d < 0 ? -d : d;
            mine = d > mine ? d : mine;
        }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

// Points per side from the command line, 0 if they are no such number.
static int read_points(int argc, char **argv)
{
    if (argc < 2)
        return DEFAULT_POINTS;
    char *end;
    long n = strtol(argv[1], &end, 10);
    return end != argv[1] && *end == '\0' && n > 0 && n <= MOST_POINTS ? (int)n : 0;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int n = read_points(argc, argv);
    if (n < ranks) {
        if (rank == 0)
            fprintf(stderr, "cg: needs %d to %d points per side, not '%s'\n", ranks, MOST_POINTS,
                    argc > 1 ? argv[1] : "the default");
        MPI_Finalize();
        return 2;
    }

    struct grid g = distribute(n, rank, ranks);
    double *known = new_vector(&g), *x = new_vector(&g), *residual = new_vector(&g);
    double *direction = new_vector(&g), *product = new_vector(&g);
    set_solution(&g, known);
    multiply(&g, known, residual);
    combine(&g, direction, 0, residual, 1);
    if (rank == 0)
        printf("cg: %d x %d points, %d ranks\n", n, n, ranks);

    double begun = MPI_Wtime();
    double square = dot(&g, residual, residual), first = square;
    int iteration = 0, most = 10 * n;
    while (square > TOLERANCE * TOLERANCE * first && iteration < most) {
        multiply(&g, direction, product);
        double step = square / dot(&g, direction, product);
        combine(&g, x, 1, direction, step);
        combine(&g, residual, 1, product, -step);
        double next = dot(&g, residual, residual);
        combine(&g, direction, next / square, residual, 1);
        square = next;
        iteration++;
        if (rank == 0 && iteration % 10 == 0)
            printf("cg: iteration %5d, residual squared %.3e of the first\n", iteration,
                   square / first);
    }
    double seconds = MPI_Wtime() - begun;
    double error = largest_difference(&g, x, known);

    int good = square <= TOLERANCE * TOLERANCE * first && error < LARGEST_ERROR;
    if (rank == 0) {
        printf("cg: %s after %d iterations, residual squared %.3e of the first, error %.1e\n",
               good ? "converged" : "did not converge", iteration, square / first, error);
        // Per point and iteration: 6 for the product, 2 each for two dot products, 3 each
        // for three combinations.
        printf("cg: time %.3f s, %.1f MFlop/s in all\n", seconds,
               19e-6 * n * (double)n * iteration / seconds);
    }
    free(known);
    free(x);
    free(residual);
    free(direction);
    free(product);
    MPI_Finalize();
    return good ? 0 : 1;
}
