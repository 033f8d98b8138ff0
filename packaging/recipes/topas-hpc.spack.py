# The recipe for Spack, which `cargo xtask release` completes: it installs the tarball of a release. It
# is the package.py of the package topas-hpc in a repository of the site.

import os

from spack.package import *


class TopasHpc(Package):
    """TOPAS measures how every parallel program on a Linux cluster uses the machine. Drop-in
    compiler drivers link a measurement module into each executable. In each run, two ranks read
    the clocks and the hardware counters at the start and at the end, and each appends one line to
    a log."""

    # The tarball is looked for in the working directory, or in a mirror of the site.
    manual_download = True
    url = f"file://{os.getcwd()}/topas-@VERSION@-@ARCH@-linux.tar.zst"

    license("MIT")

    version("@VERSION@", sha256="@SHA256@", expand=False)

    requires("platform=linux", msg="TOPAS measures with the kernel of Linux")
    requires("target=@ARCH@:", msg="the tools in the tarball are of this processor")

    depends_on("tar", type="build")
    depends_on("zstd", type="build")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/topas-{version}-@ARCH@-linux.tar.zst"

    def install(self, spec, prefix):
        tar = which("tar", required=True)
        archive = self.stage.archive_file
        tar("--zstd", "--strip-components=1", "-xf", archive, "-C", prefix)

    @run_after("install")
    def relocate(self):
        # The tarball knows its place only now; the call also links the names of the drivers that
        # this machine has.
        Executable(join_path(self.prefix, "libexec", "topas", "topas-driver"))("--relocate")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def tools_start(self):
        Executable(join_path(self.prefix.bin, "topas-stat"))("--version")

    def setup_run_environment(self, env):
        env.set("TOPAS_ROOT", self.prefix)
        env.prepend_path("PATH", join_path(self.prefix, "libexec", "topas", "wrappers"))
