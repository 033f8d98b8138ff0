# Attributes that MPI deletes at its end: mpi4py's own, of its shutdown, and one whose function calls
# MPI. With an argument the program ends MPI itself.
#
# profile: ranks=2
# profile: Allreduce@all calls=10
# profile: Comm_dup@all calls=1
# profile: Finalize@all calls=1

import sys

from mpi4py import MPI


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def deleted(comm, keyval, value):
    MPI.Get_version()
    say(f"deleted {value} {comm.Get_size()}")


def main():
    world = MPI.COMM_WORLD
    keyval = MPI.Comm.Create_keyval(delete_fn=deleted)
    MPI.COMM_SELF.Set_attr(keyval, "own")
    total = bytearray(8)
    for _ in range(10):
        world.Allreduce([b"\0" * 8, MPI.DOUBLE], [total, MPI.DOUBLE])
    own = world.Dup()
    for _ in range(5):
        own.sendrecv("text", dest=world.rank ^ 1, source=world.rank ^ 1)
    own.Free()
    say(f"good {world.rank}")
    if len(sys.argv) > 1:
        MPI.Finalize()


main()
