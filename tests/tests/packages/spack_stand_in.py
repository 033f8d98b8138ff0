"""Installs by a recipe of Spack without Spack: stands in for what the recipe takes from it, notes what
the class says, and calls its steps in their order.

usage: spack_stand_in.py RECIPE PREFIX
"""

import hashlib
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import types

SAID = {"versions": [], "after": []}
CLASSES = []

join_path = os.path.join


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(os.path.join(self, name))


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *arguments):
        subprocess.run([self.path, *arguments], check=True, stdout=subprocess.DEVNULL)


def which(name, required=False):
    path = shutil.which(name)
    assert path or not required, name
    return Executable(path)


def version(text, sha256, expand):
    assert len(sha256) == 64 and not expand
    SAID["versions"].append((text, sha256))


def license(name):
    SAID["license"] = name


def requires(spec, msg):
    assert spec.split("=")[0] in ("platform", "target") and msg


def depends_on(name, type):
    assert type == "build" and shutil.which(name), name


def run_after(phase):
    assert phase == "install"

    def note(function):
        SAID["after"].append(function)
        return function

    return note


def on_package_attributes(run_tests):
    assert run_tests
    return lambda function: function


class Package:
    def __init_subclass__(cls):
        CLASSES.append(cls)


def install():
    [recipe] = CLASSES
    [(text, sha256)] = SAID["versions"]
    assert recipe.__name__ == "TopasHpc" and SAID["license"] == "MIT" and recipe.manual_download
    package = recipe()
    archive = package.url_for_version(text).removeprefix("file://")
    assert recipe.url == "file://" + archive
    assert hashlib.sha256(pathlib.Path(archive).read_bytes()).hexdigest() == sha256
    package.prefix = Prefix(os.path.abspath(sys.argv[2]))
    package.stage = types.SimpleNamespace(archive_file=archive)
    package.install(None, package.prefix)
    for function in SAID["after"]:
        function(package)
    names = []
    env = types.SimpleNamespace(
        set=lambda name, value: names.append(name),
        prepend_path=lambda name, path: names.append(name) or os.stat(path),
    )
    package.setup_run_environment(env)
    assert names == ["TOPAS_ROOT", "PATH"], names


# What `from spack.package import *` gets.
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = sys.modules["__main__"]
runpy.run_path(sys.argv[1])
install()
