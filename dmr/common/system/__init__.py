"""Calls that only some operating systems have: process groups, private pages, control groups, forks.

Other folders use them through the modules of `dmr.common`, so that a port has one place to change.
"""
