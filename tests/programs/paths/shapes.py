# Calls MPI_Initialized by ctypes from functions of many shapes, and prints by which functions and lines it came
# there, as Python itself tells. Runs with every version of Python 3 from 3.6 on.
import collections
import ctypes
import functools
import sys
import threading

DEPTH = 8
mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
flag = ctypes.c_int()
paths = collections.Counter()


def told():
    """Notes the caller's path: to be called in the same line as MPI."""
    frame, path = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        path.append("%s (%s:%d)" % (name, code.co_filename.split("/")[-1], frame.f_lineno))
        frame = frame.f_back
    paths[" < ".join(path[:DEPTH] + ["..."] * (len(path) > DEPTH))] += 1


def plain():
    told(), mpi.MPI_Initialized(ctypes.byref(flag))


def twice_in_a_line():
    told(), mpi.MPI_Initialized(ctypes.byref(flag)); told(), mpi.MPI_Initialized(ctypes.byref(flag))


def lines_back(
    first=1,
    second=2,
):
    values = [
        first,
        second,
        (told(), mpi.MPI_Initialized(ctypes.byref(flag))),
        sum(
            range(
                3,
            )
        ),
    ]
    plain(), values.append(
        max(
            plain() or 0,
            1,
        )
    )


def generator():
    for number in range(3):
        told(), mpi.MPI_Initialized(ctypes.byref(flag))
        yield number


def recursive(level):
    if level == 0:
        plain()
    else:
        recursive(level - 1)


class Outer:
    class Inner:
        def method(self):
            told(), mpi.MPI_Initialized(ctypes.byref(flag))

        @staticmethod
        def static():
            plain()

        @property
        def attribute(self):
            return plain()

    def __enter__(self):
        plain()

    def __exit__(self, *_):
        told(), mpi.MPI_Initialized(ctypes.byref(flag))


def größe():
    told(), mpi.MPI_Initialized(ctypes.byref(flag))


def 長さ():
    größe()


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@decorated
@decorated
def behind_decorators():
    plain()


def by_callbacks():
    sorted([3, 1, 2], key=lambda number: plain() or number)
    list(map(lambda _: (told(), mpi.MPI_Initialized(ctypes.byref(flag))), range(2)))
    functools.reduce(lambda a, b: plain() or a, [1, 2, 3])
    [plain() for _ in range(2)]
    {number: plain() for number in range(2)}
    functools.partial(plain)()


def failing():
    try:
        raise ValueError("x")
    except ValueError:
        plain()
    finally:
        told(), mpi.MPI_Initialized(ctypes.byref(flag))


def made():
    # The same place of memory may hold other code each time.
    for number in range(50):
        text = "\n" * (number % 5 * 100) + "def made_%d():\n" % (number % 5) + "    pass\n" * (number % 5)
        text += "    plain()\n" + "made_%d()\n" % (number % 5)
        exec(compile(text, "/nowhere/made_%d.py" % (number % 5), "exec"), dict(globals()))


def main():
    for _ in range(3):
        plain()
    plain()
    twice_in_a_line()
    lines_back()
    list(generator())
    for level in (0, 1, 5, 6, 7, 20, 40):
        recursive(level)
    inner = Outer.Inner()
    inner.method()
    inner.static()
    inner.attribute
    with Outer():
        plain()
    größe()
    長さ()
    behind_decorators()
    by_callbacks()
    failing()
    made()


main()
thread = threading.Thread(target=main)
thread.start()
thread.join()
mpi.MPI_Finalize()
for path, calls in sorted(paths.items()):
    print("truth %d %s" % (calls, path))
