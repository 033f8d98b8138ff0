"""An extension module with MPI: MPICC names the driver, which is asked for its flags."""

import os
import shlex
import subprocess

from setuptools import Extension, setup

MPICC = os.environ.get("MPICC", "mpicc")


def answer(*question):
    """The words of an answer, without the compiler's name."""
    said = subprocess.run([MPICC, *question], check=True, capture_output=True, text=True)
    return shlex.split(said.stdout)[1:]


setup(
    name="hello",
    version="1.0",
    py_modules=[],
    ext_modules=[
        Extension(
            "hello",
            ["module.c"],
            extra_compile_args=[word for word in answer("-show", "-c") if word != "-c"],
            extra_link_args=answer("-show"),
        )
    ],
)
