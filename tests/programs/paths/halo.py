# Rank 1 sends late, in exchange(). Rank 2 comes late to a sum, which is called from two lines.
import array
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
ROUNDS = int(sys.argv[1])


def exchange(halo):
    if rank == 1:
        time.sleep(0.05)
        for other in (0, 2, 3):
            world.Send(halo, dest=other)
    else:
        world.Recv(halo, source=1)


class Grid:
    def total(self, seconds):
        if rank == 2:
            time.sleep(seconds)
        part, whole = array.array("d", [1]), array.array("d", [0])
        world.Allreduce(part, whole)


def main():
    grid = Grid()
    for _ in range(ROUNDS):
        exchange(bytearray(8))
    for _ in range(ROUNDS):
        grid.total(0.001)
    grid.total(0.01)


main()
