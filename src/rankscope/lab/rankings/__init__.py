"""All possible rankings: kinds of documents, the prefix tree of rankings, and its enumeration."""
