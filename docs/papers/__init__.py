"""The five papers, item by item: the source of `docs/papers.md`.

One module per paper, one `Row` per definition, equation, table, figure, claim or announced piece of work. `docs/make_papers.py`
runs the rows and writes the page; `tests/test_papers.py` does the same and compares.
"""
