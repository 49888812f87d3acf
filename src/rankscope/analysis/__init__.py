"""What the scores of many runs on many topics say: about the runs, the topics, the pools and the measures."""
