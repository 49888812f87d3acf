"""Odd files, odd words, and what must come of them: the parts of ``fuzz/soak``."""
