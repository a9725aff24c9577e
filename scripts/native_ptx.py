#!/usr/bin/env python3
"""Translates a file of CUDA C++ into PTX with NVRTC, NVIDIA's compiler as a library; it needs no GPU.

    pip install nvidia-cuda-nvrtc-cu12==12.9.86
    scripts/native_ptx.py examples/native_cuda/linear_operator.cu --arch compute_70

writes linear_operator.ptx beside the source. `nvcc -ptx -arch=compute_70` of the CUDA toolkit gives the same
but for names in comments. --library names libnvrtc.so where Python does not find it.
"""

import argparse
import ctypes
import importlib.util
import pathlib
import sys


def library():
    spec = importlib.util.find_spec("nvidia.cuda_nvrtc")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("no NVRTC: pip install nvidia-cuda-nvrtc-cu12==12.9.86, or name --library")
    folder = pathlib.Path(list(spec.submodule_search_locations)[0]) / "lib"
    return next(path for path in sorted(folder.glob("libnvrtc.so*")) if "alt" not in path.name)


def translate(nvrtc, source, name, arch):
    def check(status, what):
        if status != 0:
            nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
            sys.exit(f"{what}: {nvrtc.nvrtcGetErrorString(status).decode()}")

    def text(size, get):
        length = ctypes.c_size_t()
        check(size(program, ctypes.byref(length)), "size")
        buffer = ctypes.create_string_buffer(length.value)
        check(get(program, buffer), "text")
        return buffer.value.decode()

    program = ctypes.c_void_p()
    created = nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    check(created, "nvrtcCreateProgram")
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={arch}".encode())
    status = nvrtc.nvrtcCompileProgram(program, 1, options)
    log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    if log:
        print(log, file=sys.stderr)
    check(status, name)
    return text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)


def fnv(data):
    """What tells whether the source is still that of the PTX."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--arch", default="compute_70", help="virtual architecture")
    parser.add_argument("--library", type=pathlib.Path, help="libnvrtc.so")
    arguments = parser.parse_args()
    path = arguments.library or library()
    # Next to the library, so that it finds its built-in functions.
    builtins = next(path.parent.glob("libnvrtc-builtins.so*"))
    ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    ptx = translate(ctypes.CDLL(str(path)), arguments.source.read_text(), arguments.source.name, arguments.arch)
    source = arguments.source.read_bytes()
    stamp = f"// Source: {arguments.source.name}, FNV-1a {fnv(source):016x}\n"
    arguments.source.with_suffix(".ptx").write_text(stamp + ptx)


if __name__ == "__main__":
    main()
