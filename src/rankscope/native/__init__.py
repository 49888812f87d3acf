"""C code and its bindings (ctypes): the scanner of runs and judgments, and the inner loops of the laboratory.

Every library is optional: callers have a Python implementation with the same results. ``scanner``, ``judgments``,
``cuts`` and ``readahead`` work without numpy, so that files are read while it loads.
"""
