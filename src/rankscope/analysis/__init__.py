"""Analyses of the scores of many runs on many topics: of the runs, the topics, the pools and the measures."""
