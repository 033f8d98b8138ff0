"""An extension module with MPI: MPICC names the driver, which is asked for its flags."""

import os
import shlex
import subprocess

from setuptools import Extension, setup

MPICC = os.environ.get("MPICC", "mpicc")


said = subprocess.run([MPICC, "-show"], check=True, capture_output=True, text=True).stdout
words = shlex.split(said)[1:]
includes = [word for word in words if word.startswith("-I")]

setup(
    name="hello",
    version="1.0",
    py_modules=[],
    ext_modules=[
        Extension(
            "hello",
            ["module.c"],
            extra_compile_args=includes,
            extra_link_args=[word for word in words if word not in includes],
        )
    ],
)
