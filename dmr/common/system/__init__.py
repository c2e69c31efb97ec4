"""Calls that only some operating systems have: process groups, file locks, private pages, control groups.

Other folders use them through the modules of `dmr.common`; those of the native libraries are in
`cuda_src/portable/system.hpp`. A port has these two places to change.
"""
