"""Generates messages, services and their types from the contract in proto/ when the package is built."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROTO = Path(__file__).parent.resolve() / "../../proto"
FLAGS = ("python", "grpc_python", "mypy", "mypy_grpc")


class Generate(build_py):
    def run(self):
        super().run()
        out = Path(self.build_lib)
        names = [str(path.relative_to(PROTO)) for path in sorted(PROTO.glob("waggle/v1/*.proto"))]
        self.spawn(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"-I{PROTO}",
                f"-I{PROTO / 'third_party'}",
                *(f"--{flag}_out={out}" for flag in FLAGS),
                *names,
                "buf/validate/validate.proto",
            ]
        )
        (out / "waggle/v1/__init__.py").touch()


setup(cmdclass={"build_py": Generate})
