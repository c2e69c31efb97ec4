"""Calls that only some operating systems have: process groups, file locks, private pages, control groups.

Other folders use them through the modules of `dmr.common`, so that a port has one place to change.
"""
