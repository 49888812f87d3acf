"""The documentation site: which pages it has, what of it is generated, and how it is built."""
